/** Who is asking: by bearer token, or by client certificate. Whoever is known may do everything. */
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';

export interface User {
  readonly username: string;
  readonly groups: readonly string[];
}

const BEARER = /^Bearer +(\S+)$/i;

/** Undefined: nobody known, to be answered with 401. */
export function authenticate(request: IncomingMessage, tokens: ReadonlyMap<string, User>): User | undefined {
  const certified = certifiedUser(request.socket as TLSSocket);
  if (certified) return certified;
  const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
  return token === undefined ? undefined : tokens.get(token);
}

function certifiedUser(socket: TLSSocket): User | undefined {
  if (!socket.encrypted || !socket.authorized) return undefined;
  const { subject } = socket.getPeerCertificate();
  if (!subject) return undefined;
  const { CN, O } = subject as { CN?: string | string[]; O?: string | string[] };
  const username = Array.isArray(CN) ? CN[0] : CN;
  if (!username) return undefined;
  return { username, groups: O === undefined ? [] : Array.isArray(O) ? O : [O] };
}
