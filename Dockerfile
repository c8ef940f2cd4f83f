# Builds an image with docker, on a distroless base. `make image` needs neither a container runtime nor a
# base image, and is reproducible.
#
#   docker build -t REGISTRY/taint-manager:v1.2.3 --build-arg VERSION=v1.2.3 --build-arg COMMIT="$(git rev-parse HEAD)" \
#     --build-arg TIME="$(TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)" .
FROM --platform=$BUILDPLATFORM golang:1.26.8 AS build
ARG TARGETOS
ARG TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=v0.1.0-dev
ARG COMMIT=
ARG TIME=
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false -mod=readonly -tags=grpcnotrace \
    -ldflags="-s -w -buildid= -X k8s.io/component-base/version.gitVersion=$VERSION -X k8s.io/component-base/version.gitCommit=$COMMIT -X k8s.io/component-base/version.buildDate=$TIME" \
    -o /taint-manager ./cmd/taint-manager

FROM gcr.io/distroless/static:nonroot
COPY --from=build /taint-manager /taint-manager
USER 65532:65532
ENTRYPOINT ["/taint-manager"]
