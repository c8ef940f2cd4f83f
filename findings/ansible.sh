# Sourced, after controlplane.sh, by findings about Ansible's collection kubernetes.core: version 2.4.0 in Debian 12's package
# ansible 7.7.0, with python3-kubernetes 22.6.0.

# fetch_ansible unpacks the packages into $work/root.
fetch_ansible() {
  local packages="jinja2 kubernetes cachetools certifi chardet charset-normalizer dateutil google-auth idna markupsafe packaging
    pyasn1 pyasn1-modules requests requests-oauthlib resolvelib rsa six urllib3 websocket yaml"
  mkdir "$work/packages"
  # shellcheck disable=SC2086
  (cd "$work/packages" && apt-get -qq -o APT::Sandbox::User=root download ansible ansible-core $(printf 'python3-%s ' $packages))
  for package in "$work"/packages/*.deb; do dpkg-deb -x "$package" "$work/root"; done
  [[ $(dpkg-deb -f "$work"/packages/ansible_*.deb Version) == 7.7.0* ]] || fail "another version of ansible"
}

# ansible MODULE ARGUMENTS runs a module of kubernetes.core with these arguments, which are JSON. It prints whether the module
# succeeded, what it says that it changed, and its message.
ansible() {
  HOME=$work PYTHONPATH=$work/root/usr/lib/python3/dist-packages ANSIBLE_LOCALHOST_WARNING=false ANSIBLE_INVENTORY_UNPARSED_WARNING=false \
    /usr/bin/python3 "$work/root/usr/bin/ansible" localhost --connection local --module-name "kubernetes.core.$1" \
    --args "${2/\{/\{\"kubeconfig\": \"$work/kubeconfig\", }" --extra-vars ansible_python_interpreter=/usr/bin/python3 >"$work/answer" 2>&1 || true
  grep -oE '(SUCCESS|CHANGED|FAILED!)|"changed": [a-z]*|"msg": .*|"result": ".*' "$work/answer"
}
