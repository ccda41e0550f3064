/** Of what is shipped: not `cloud-controller-manager`, which a predecessor may have, and keeps. */
export const OBJECT_NAME = 'outrigger-cloud-controller-manager';
