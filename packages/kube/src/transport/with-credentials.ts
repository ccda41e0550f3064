/** Proves who the caller is; at a 401 once more with renewed credentials, if there are any. */
import type { Credential, Credentials } from '../config/credentials.ts';
import type { TransportLayer, TransportRequest } from '../transport.ts';
import { discardAnswer, layerOver } from './transport-layer.ts';
import { TransportError } from './transport-error.ts';

export interface CredentialsOptions {
  /** For messages. */
  readonly server: string;
  /** Reads client certificates again; whether there are others now. A server can refuse one by 401, too. */
  readonly reloadCertificates: () => Promise<boolean>;
}

/** Layers below see the credential in `headers.authorization`; they must not log it. */
export function withCredentials(credentials: Credentials, options: CredentialsOptions): TransportLayer {
  const obtain = async <T>(work: Promise<T>, request: TransportRequest): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (request.signal?.aborted) throw error;
      const what = error instanceof Error ? error.message : String(error);
      throw new TransportError('no-credentials', options.server, what, { cause: error, sent: false });
    }
  };
  return (inner) => {
    const sendAs = (request: TransportRequest, credential: Credential) =>
      inner.send({ ...request, headers: { ...request.headers, ...credential.headers } });

    return layerOver(inner, async (request) => {
      const credential = await obtain(credentials.current(request.signal), request);
      const answer = await sendAs(request, credential);
      if (answer.status !== 401) return answer;

      // The answer stays unread until it is known whether another can be had: the caller may have to see it.
      const [renewed, reloaded] = await Promise.all([
        credentials.renew(credential, request.signal).catch(() => undefined),
        options.reloadCertificates().catch(() => false),
      ]);
      if (!renewed && !reloaded) return answer;
      await discardAnswer(answer);
      return sendAs(request, renewed ?? credential);
    });
  };
}
