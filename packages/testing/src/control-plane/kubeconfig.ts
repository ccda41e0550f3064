import { stringify } from 'yaml';
import type { CertificateAndKey } from './certificate-authority.ts';

/** How a kubeconfig proves who it is: a client certificate, or a bearer token (which passes through a proxy). */
export type KubeconfigCredential = CertificateAndKey | { readonly token: string };

export interface KubeconfigOptions {
  /** `https://127.0.0.1:6443`. */
  readonly server: string;
  /** PEM text of the authority that signed the server's certificate. Absent for a server without TLS. */
  readonly certificateAuthority?: string;
  readonly user: string;
  readonly credential: KubeconfigCredential;
}

/** The text of a kubeconfig that stands alone: certificates are embedded. */
export function kubeconfigText(options: KubeconfigOptions): string {
  const { server, certificateAuthority, user, credential } = options;
  const proof =
    'token' in credential
      ? { token: credential.token }
      : {
          'client-certificate-data': base64(credential.certificate),
          'client-key-data': base64(credential.key),
        };
  const authority =
    certificateAuthority === undefined ? {} : { 'certificate-authority-data': base64(certificateAuthority) };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'outrigger',
    clusters: [{ name: 'outrigger', cluster: { server, ...authority } }],
    users: [{ name: user, user: proof }],
    contexts: [{ name: 'outrigger', context: { cluster: 'outrigger', user } }],
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
