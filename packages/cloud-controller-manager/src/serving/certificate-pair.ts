/** Which certificate a listener serves, from its flags. */
import path from 'node:path';
import type { CertificatePair } from '@outrigger/controller-manager';

/**
 * The pair that is named, else the one in the directory, `<name>.crt` and `<name>.key`, once both are there. Empty: not given.
 * `undefined`: the listener makes one of its own.
 */
export function certificatePairOf(
  { certFile, keyFile, certDir }: CertificatePair & { readonly certDir: string },
  name: string,
): CertificatePair | undefined {
  if (certFile !== '') return { certFile, keyFile };
  if (certDir === '') return undefined;

  const file = path.join(certDir, name);
  return { certFile: `${file}.crt`, keyFile: `${file}.key`, mayComeLater: true };
}
