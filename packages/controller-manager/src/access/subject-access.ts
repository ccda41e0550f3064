/** What a user may ask for, as the API server says: https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access */
import { resources, type Client, type Clock, type SubjectAccessReview } from '@outrigger/kube';
import { AnswerCache } from './answer-cache.ts';
import type { PeerQuestions } from './peer-questions.ts';
import type { AccessRequest, User } from './user.ts';

export interface SubjectAccessOptions {
  /** May create `subjectaccessreviews.authorization.k8s.io`. */
  readonly client: Client;
  readonly clock: Clock;
  readonly questions: PeerQuestions;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
}

/** Whether the user may. Throws or rejects when the API server cannot be asked. */
export type Authorize = (user: User, request: Pick<AccessRequest, 'method' | 'path' | 'peer'>) => Promise<boolean>;

const TIMEOUT_MS = 10_000;
/** A longer question is asked each time: a caller chooses the path, and must not choose how much memory it takes. */
const LONGEST_KEPT = 10_000;

export function authorizeBySubjectAccess(options: SubjectAccessOptions): Authorize {
  const reviews = options.client.of(resources.subjectAccessReviews);
  const { authorizedTtlMs, questions, unauthorizedTtlMs } = options;
  const cache = new AnswerCache<boolean>(options.clock, (allowed) => (allowed ? authorizedTtlMs : unauthorizedTtlMs));
  return (user, { method, path, peer }) => {
    const spec = {
      user: user.name,
      groups: [...user.groups],
      ...(user.uid === undefined ? {} : { uid: user.uid }),
      ...(user.extra === undefined ? {} : { extra: user.extra }),
      nonResourceAttributes: { path, verb: method.toLowerCase() },
    };
    const ask = async (): Promise<boolean> => {
      const review = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec,
      } as SubjectAccessReview;
      const { status } = await reviews.create(review, { timeoutMs: TIMEOUT_MS });
      return status?.allowed === true && status.denied !== true;
    };
    const key = JSON.stringify(spec);
    const askInTurn = (): Promise<boolean> => questions.ask(peer, ask);
    return key.length > LONGEST_KEPT ? askInTurn() : cache.get(key, askInTurn);
  };
}
