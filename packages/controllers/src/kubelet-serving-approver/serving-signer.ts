/** Who signs the certificates with which kubelets serve: kube-controller-manager, once somebody has approved the request. */
export const SERVING_SIGNER = 'kubernetes.io/kubelet-serving';
