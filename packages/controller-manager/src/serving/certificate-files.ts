/** The serving certificate of `--tls-cert-file` and `--tls-private-key-file`, read again when it has been renewed. */
import { readFile } from 'node:fs/promises';
import { whyUnreadable } from '@outrigger/kube';
import type { ServingCertificate } from './self-signed-certificate.ts';

/** A certificate that cannot be served. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
  readonly code = 'serving-certificate';
}

/**
 * Reads both files. Throws a `CertificateError` that names the flag and the file. `flag`: the one that names both, default one
 * for each; `prefix`: what the names of the flags begin with.
 */
export async function readCertificateFiles(
  certFile: string,
  keyFile: string,
  { flag, prefix = '' }: { readonly flag?: string; readonly prefix?: string | undefined } = {},
): Promise<ServingCertificate> {
  // One after the other, so that of two faults it is always the same one that is told.
  const cert = await readPem(`--${prefix}${flag ?? 'tls-cert-file'}`, certFile, 'CERTIFICATE');
  const key = await readPem(`--${prefix}${flag ?? 'tls-private-key-file'}`, keyFile, 'PRIVATE KEY');
  return { cert, key };
}

async function readPem(flag: string, file: string, block: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new CertificateError(`${flag}: ${file}: ${whyUnreadable(error)}`);
  }
  if (!text.includes(`${block}-----`)) throw new CertificateError(`${flag}: ${file}: no PEM block ${block}`);
  return text;
}
