/** What is kept of a request: who may make one may make it a megabyte long, and the API server keeps it for an hour. Pure. */
import type { CertificateSigningRequest } from '@outrigger/kube';

/** Characters, of 6 KiB of PEM. A kubelet's own has about 700, with a long RSA key and 64 names 5,500. It is parsed on the event loop, at 0.05 ms a name. */
export const LONGEST_REQUEST = 8_192;
/** In place of what is longer, and refused as that. */
const TOO_LONG = '-'.repeat(LONGEST_REQUEST + 1);

/** What the approver reads: of what a kubelet writes the request alone, until it is decided. The rest is the API server's and the signer's. */
export function trimServingRequest(csr: CertificateSigningRequest): CertificateSigningRequest {
  const { metadata = {}, spec } = csr;
  const { creationTimestamp, deletionTimestamp, name, resourceVersion, uid } = metadata;
  const asked = spec.request.length > LONGEST_REQUEST ? TOO_LONG : spec.request;
  return {
    ...csr,
    metadata: { creationTimestamp, deletionTimestamp, name, resourceVersion, uid },
    spec: { ...spec, request: isDecided(csr) ? '' : asked },
    // Some of the metadata is undefined.
  } as CertificateSigningRequest;
}

/** Approved, denied, failed at the signer, or signed by whoever did so. */
export function isDecided({ metadata, status }: CertificateSigningRequest): boolean {
  return Boolean(metadata?.deletionTimestamp) || (status?.conditions ?? []).length > 0 || Boolean(status?.certificate);
}
