/** Which certificate a listener serves, from its flags. */
import { access as probe } from 'node:fs/promises';
import path from 'node:path';

export interface CertificatePair {
  readonly certFile: string;
  readonly keyFile: string;
}

/**
 * The pair that is named, else the one in the directory, `<name>.crt` and `<name>.key`, if both are there. Empty: not given.
 * `undefined`: the listener makes one of its own.
 */
export async function findCertificatePair(
  { certFile, keyFile, certDir }: CertificatePair & { readonly certDir: string },
  name: string,
): Promise<CertificatePair | undefined> {
  if (certFile !== '') return { certFile, keyFile };
  if (certDir === '') return undefined;
  const pair = { certFile: path.join(certDir, `${name}.crt`), keyFile: path.join(certDir, `${name}.key`) };
  const found = await Promise.all([probe(pair.certFile), probe(pair.keyFile)]).catch(() => undefined);
  return found && pair;
}
