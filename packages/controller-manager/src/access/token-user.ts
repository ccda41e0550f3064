/** The user whom a bearer token belongs to, asked of the API server: https://kubernetes.io/docs/reference/access-authn-authz/webhook/ */
import { createHmac, randomBytes } from 'node:crypto';
import { resources, type Client, type Clock, type TokenReview } from '@outrigger/kube';
import { AnswerCache } from './answer-cache.ts';
import type { PeerQuestions } from './peer-questions.ts';
import { headerValues, UnauthenticatedError, type Authenticate, type User } from './user.ts';

export interface TokenReviewOptions {
  /** May create `tokenreviews.authentication.k8s.io`. */
  readonly client: Client;
  readonly clock: Clock;
  readonly questions: PeerQuestions;
  /** How long an answer holds. */
  readonly cacheTtlMs: number;
}

const TIMEOUT_MS = 10_000;
const BEARER = /^bearer +(\S+) *$/iu;

export function authenticateByToken({ cacheTtlMs, client, clock, questions }: TokenReviewOptions): Authenticate {
  const reviews = client.of(resources.tokenReviews);
  const cache = new AnswerCache<User | undefined>(clock, () => cacheTtlMs);
  // Tokens are not kept, and what is kept tells nothing about them.
  const secret = randomBytes(32);
  return async (request) => {
    const token = BEARER.exec(headerValues(request, 'authorization')[0] ?? '')?.[1];
    if (token === undefined) return undefined;
    const key = createHmac('sha256', secret).update(token).digest('base64');
    const ask = async (): Promise<User | undefined> => {
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } } as TokenReview;
      return userOf(await reviews.create(review, { timeoutMs: TIMEOUT_MS }));
    };
    const user = await cache.get(key, () => questions.ask(request.peer, ask));
    if (user === undefined) throw new UnauthenticatedError('the API server does not know the bearer token');
    return user;
  };
}

function userOf({ status }: TokenReview): User | undefined {
  const { extra, groups = [], uid, username = '' } = status?.user ?? {};
  if (status?.authenticated !== true || username === '') return undefined;
  return { name: username, groups, ...(uid === undefined ? {} : { uid }), ...(extra === undefined ? {} : { extra }) };
}
