/** Bearer tokens that live in a file: projected service account tokens, and `tokenFile` of a kubeconfig. */
import { raceAbort } from '../abort.ts';
import type { Credential, Credentials } from './credentials.ts';
import { RereadFile, type RereadFileOptions } from './reread-file.ts';

export interface TokenFileOptions extends RereadFileOptions {
  /** Used as long as the file could never be read: `token` beside `tokenFile`. */
  readonly fallback?: string | undefined;
}

/** Credentials from a token file, read again after 10 s and at a 401. */
export function tokenFile(options: TokenFileOptions): Credentials {
  const file = new RereadFile(options);
  let token: string | undefined;
  let credential: Credential = { headers: {} };
  const load = async (fresh: boolean): Promise<Credential> => {
    let text: string;
    try {
      text = await file.read(fresh);
    } catch (error) {
      if (options.fallback === undefined) throw error;
      text = options.fallback;
    }
    if (text !== token) {
      token = text;
      credential = { headers: { authorization: `Bearer ${text}` } };
    }
    return credential;
  };
  return {
    current: (signal) => raceAbort(load(false), signal),
    renew: async (rejected, signal) => {
      const renewed = await raceAbort(load(true), signal);
      return renewed === rejected ? undefined : renewed;
    },
  };
}
