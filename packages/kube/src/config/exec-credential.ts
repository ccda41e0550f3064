/** What a credential plugin prints: `ExecCredential` of client.authentication.k8s.io. */
import { isHeaderText, type ClientCertificate } from './credentials.ts';

/** v1, and v1beta1 which has the same shape. v1alpha1 was removed in Kubernetes 1.24. */
export const EXEC_API_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'] as const;
export type ExecApiVersion = (typeof EXEC_API_VERSIONS)[number];

export interface ExecAnswer {
  readonly token?: string;
  readonly certificate?: ClientCertificate;
  /** Milliseconds since the Unix epoch. Missing: it does not expire. */
  readonly expiresAt?: number;
}

/** Reads the output, or says what is wrong with it in words that quote nothing of it but the API version. */
export function parseExecCredential(
  stdout: string,
  apiVersion: ExecApiVersion,
): ExecAnswer | { readonly problem: string } {
  let answer: unknown;
  try {
    answer = JSON.parse(stdout);
  } catch {
    return { problem: 'printed no JSON' };
  }
  if (!isMap(answer) || answer['kind'] !== 'ExecCredential') return { problem: 'printed no ExecCredential' };
  if (answer['apiVersion'] !== apiVersion) {
    return { problem: `printed API version ${JSON.stringify(answer['apiVersion'])}, but ${apiVersion} is configured` };
  }
  const status = answer['status'];
  if (!isMap(status)) return { problem: 'printed an ExecCredential without status' };
  const token = textOf(status['token']);
  const certificate = textOf(status['clientCertificateData']);
  const key = textOf(status['clientKeyData']);
  if ((certificate === undefined) !== (key === undefined)) {
    return { problem: 'printed one of clientCertificateData and clientKeyData without the other' };
  }
  if (token === undefined && certificate === undefined) return { problem: 'printed neither a token nor a certificate' };

  if (token !== undefined && !isHeaderText(token))
    return { problem: 'printed a token with characters that no token has' };

  const expiry = status['expirationTimestamp'];
  const expiresAt = typeof expiry === 'string' ? Date.parse(expiry) : undefined;
  if (Number.isNaN(expiresAt)) return { problem: 'printed an expirationTimestamp that is not RFC 3339' };
  return {
    ...(token !== undefined && { token }),
    ...(certificate !== undefined && key !== undefined && { certificate: { certificate, key } }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
