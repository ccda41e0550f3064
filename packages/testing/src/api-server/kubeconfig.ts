/** A kubeconfig that leads to the embedded server. */
import { parse } from 'yaml';
import { kubeconfigText, type KubeconfigCredential } from '../control-plane/kubeconfig.ts';

export interface Kubeconfig {
  /** As an object, for clients that take one. */
  readonly object: object;
  /** As the text of a file. It holds credentials. */
  readonly yaml: string;
}

/** `ca`: PEM; undefined for plain HTTP. */
export function makeKubeconfig(url: string, ca: string | undefined, credential: KubeconfigCredential): Kubeconfig {
  const yaml = kubeconfigText({
    server: url,
    ...(ca === undefined ? {} : { certificateAuthority: ca }),
    user: 'admin',
    credential,
  });
  return { object: parse(yaml) as object, yaml };
}
