/** What the kubelet says on stdin and expects on stdout: https://kubernetes.io/docs/reference/config-api/kubelet-credentialprovider.v1/. */
import { Failure } from './failure.ts';

export const API_VERSION = 'credentialprovider.kubelet.k8s.io/v1';
/** A token has some kilobytes, annotations at most 256. */
export const LONGEST_REQUEST: number = 1 << 20;

/** KEP-2133; token and annotations KEP-4412. */
export interface CredentialRequest {
  readonly image: string;
  /** Of the pod's service account, for the audience that the `CredentialProviderConfig` names. */
  readonly serviceAccountToken: string | undefined;
  readonly serviceAccountAnnotations: Readonly<Record<string, string>>;
}

/** What a registry is to be logged in to with. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
  /** `host` or `host/path`: what they are for, never wider than what was asked about. */
  readonly match: string;
  /** What of the image the kubelet keeps them by. */
  readonly cacheBy: 'Image' | 'Registry';
  /** Milliseconds; 0: not at all. */
  readonly cacheForMs: number;
}

/** Throws `bad-request`, without a word of the text: there is a token in it. */
export function readRequest(text: string): CredentialRequest {
  const request = parseObject(text);
  if (!request)
    throw new Failure('bad-request', 'stdin is no JSON object; the kubelet writes a CredentialProviderRequest there');
  if (request['kind'] !== 'CredentialProviderRequest' || request['apiVersion'] !== API_VERSION) {
    throw new Failure(
      'bad-request',
      `stdin is no CredentialProviderRequest of ${API_VERSION}: set this apiVersion in the CredentialProviderConfig`,
    );
  }
  const { image, serviceAccountAnnotations = {}, serviceAccountToken = '' } = request;
  if (typeof image !== 'string' || image === '') throw new Failure('bad-request', 'the request names no image');
  if (typeof serviceAccountToken !== 'string') throw new Failure('bad-request', 'serviceAccountToken is no text');
  return {
    image,
    serviceAccountToken: serviceAccountToken === '' ? undefined : serviceAccountToken,
    serviceAccountAnnotations: annotationsOf(serviceAccountAnnotations),
  };
}

function annotationsOf(found: unknown): Readonly<Record<string, string>> {
  const isMap = typeof found === 'object' && found !== null && !Array.isArray(found);
  if (!isMap || Object.values(found).some((value) => typeof value !== 'string')) {
    throw new Failure('bad-request', 'serviceAccountAnnotations is no map of texts');
  }
  return Object.assign(Object.create(null) as Record<string, string>, found);
}

export function renderResponse({ cacheBy, cacheForMs, match, password, username }: Credentials): string {
  return `${JSON.stringify({
    kind: 'CredentialProviderResponse',
    apiVersion: API_VERSION,
    cacheKeyType: cacheBy,
    cacheDuration: `${Math.floor(Math.max(0, cacheForMs) / 1_000)}s`,
    auth: { [match]: { username, password } },
  })}\n`;
}

/** A JSON object, or `undefined`. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === 'object' && found !== null && !Array.isArray(found)
      ? (found as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

const MINUTE = 60_000;
/** More than any registry gives; what Go cannot read as a duration would be no answer at all. */
export const LONGEST_LIFE: number = 24 * 60 * MINUTE;

/**
 * Milliseconds to keep what ends at `expiresAt`: its life less a tenth, which is at least a minute and at most half an hour, as a pull
 * that begins with it has to end with it; a life of more than a day counts as one. 0 where that leaves nothing, or where the end is not known.
 */
export function cacheTime(expiresAt: number | undefined, now: number): number {
  const life = Math.min((expiresAt ?? 0) - now, LONGEST_LIFE);
  if (Number.isNaN(life) || life <= 0) return 0;
  return Math.max(0, life - Math.min(30 * MINUTE, Math.max(MINUTE, life / 10)));
}
