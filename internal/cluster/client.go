package cluster

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// newNegotiator returns the decoders of responses about pods and nodes.
func newNegotiator() runtime.ClientNegotiator {
	private := runtime.NewScheme()
	metav1.AddToGroupVersion(private, v1.SchemeGroupVersion)
	for kind, object := range map[string]runtime.Object{
		"Pod": &pod{}, "PodList": &podList{}, "Node": &node{}, "NodeList": &nodeList{},
	} {
		private.AddKnownTypeWithName(v1.SchemeGroupVersion.WithKind(kind), object)
	}
	own := serializer.NewCodecFactory(private).WithoutConversion()
	return runtime.NewClientNegotiator(serializers{own, private}, v1.SchemeGroupVersion)
}

// decodingClient returns a client that sends requests as client-go's client does, over the same connections, and
// decodes only the fields that are used. It asks for protobuf, and also accepts JSON. It returns nil if the client is
// not client-go's, because another client may do more than send requests.
func decodingClient(client kubernetes.Interface) rest.Interface {
	core, ok := client.CoreV1().(*corev1.CoreV1Client)
	if !ok {
		return nil
	}
	own, ok := core.RESTClient().(*rest.RESTClient)
	if !ok {
		return nil
	}
	content := rest.ClientContentConfig{GroupVersion: v1.SchemeGroupVersion, Negotiator: newNegotiator()}
	decoding, err := rest.NewRESTClient(own.Get().URL(), "", content, own.GetRateLimiter(), own.Client)
	if err != nil {
		return nil
	}
	return decoding
}

func decodedPods(c rest.Interface) typed[*podList] {
	return gentype.NewClientWithList("pods", c, scheme.ParameterCodec, metav1.NamespaceAll,
		func() *pod { return &pod{} }, func() *podList { return &podList{} }, gentype.PrefersProtobuf[*pod]())
}

func decodedNodes(c rest.Interface) typed[*nodeList] {
	return gentype.NewClientWithList("nodes", c, scheme.ParameterCodec, metav1.NamespaceAll,
		func() *node { return &node{} }, func() *nodeList { return &nodeList{} }, gentype.PrefersProtobuf[*node]())
}
