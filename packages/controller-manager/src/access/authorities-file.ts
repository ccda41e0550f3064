/** Authorities that sign the certificates of callers, from a file that is read again when it changes. */
import { readFile } from 'node:fs/promises';
import { whyUnreadable, type Clock, type Logger, type Metrics } from '@outrigger/kube';
import { reloadFiles } from '../reload/reload-files.ts';
import type { ClientAuthorities } from '../serving/secure-server.ts';
import { AuthoritiesError, CertificateAuthorities } from './certificate-authorities.ts';

export interface AuthoritiesFile {
  /** For messages: `--client-ca-file`. */
  readonly flag: string;
  /** Empty: there is no such file. */
  readonly path: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Ends the reading. */
  readonly signal: AbortSignal;
}

/** `use` is called once before this resolves, and at each change. Rejects with an `AuthoritiesError` for a file that cannot be used. */
export async function followAuthorities(
  { clock, flag, logger, metrics, path, signal }: AuthoritiesFile,
  use: (authorities: CertificateAuthorities) => void,
): Promise<void> {
  if (path === '') return;
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new AuthoritiesError(`${flag}: ${path}: ${whyUnreadable(error)}`);
  });
  const apply = (pem: string): void => use(new CertificateAuthorities(pem, `${flag}: ${path}`, clock));
  apply(text);
  void reloadFiles({
    clock,
    logger,
    metrics,
    signal,
    name: flag.slice('--'.length),
    paths: [path],
    current: [text],
    apply: async ([pem = '']) => apply(pem),
  });
}

/** For a listener that asks callers for certificates of these authorities alone. `undefined` without a file. */
export async function readClientAuthorities(file: AuthoritiesFile): Promise<ClientAuthorities | undefined> {
  let authorities: CertificateAuthorities | undefined;
  const listeners = new Set<() => void>();
  await followAuthorities(file, (next) => {
    authorities = next;
    for (const listener of listeners) listener();
  });
  return (
    authorities && {
      current: () => (authorities ? [authorities.pem] : []),
      onChange: (listener) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    }
  );
}
