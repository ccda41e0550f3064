/** Upstream's metrics of authentication and authorization: k8s.io/apiserver v0.36.3, pkg/endpoints/filters/metrics.go */
import { exponentialBuckets, type Clock, type Metrics } from '@outrigger/kube';
import { UnauthenticatedError, type User } from './user.ts';

const BUCKETS = exponentialBuckets(0.001, 2, 15);

export interface AccessMetrics {
  authentication(work: () => Promise<User>): Promise<User>;
  authorization(work: () => Promise<boolean>): Promise<boolean>;
}

export function createAccessMetrics(metrics: Metrics, clock: Clock): AccessMetrics {
  const users = metrics.counter({
    name: 'authenticated_user_requests',
    help: 'Authenticated requests by the kind of user.',
    labels: ['username'],
  });
  const authentications = metrics.counter({
    name: 'authentication_attempts',
    help: 'Authentication attempts by result: success, failure or error.',
    labels: ['result'],
  });
  const authenticationTime = metrics.histogram({
    name: 'authentication_duration_seconds',
    help: 'Duration of authentication in seconds.',
    labels: ['result'],
    buckets: BUCKETS,
  });
  const authorizations = metrics.counter({
    name: 'authorization_attempts_total',
    help: 'Authorization attempts by result: allowed, denied or error.',
    labels: ['result'],
  });
  const authorizationTime = metrics.histogram({
    name: 'authorization_duration_seconds',
    help: 'Duration of authorization in seconds.',
    labels: ['result'],
    buckets: BUCKETS,
  });
  return {
    authentication: async (work) => {
      const start = clock.monotonic();
      let result = 'error';
      try {
        const user = await work();
        // Anonymous callers too, as upstream.
        result = 'success';
        users.inc({ username: kindOf(user.name) });
        return user;
      } catch (error) {
        if (error instanceof UnauthenticatedError) result = 'failure';
        throw error;
      } finally {
        authentications.inc({ result });
        authenticationTime.observe((clock.monotonic() - start) / 1_000, { result });
      }
    },
    authorization: async (work) => {
      const start = clock.monotonic();
      let result = 'error';
      try {
        const allowed = await work();
        result = allowed ? 'allowed' : 'denied';
        return allowed;
      } finally {
        authorizations.inc({ result });
        authorizationTime.observe((clock.monotonic() - start) / 1_000, { result });
      }
    },
  };
}

const KNOWN_NAMES = ['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default'];

/** As upstream: a label for each user of a cluster would be too many, and would tell names. */
function kindOf(name: string): string {
  if (KNOWN_NAMES.includes(name)) return name;
  return name.includes('@') ? 'email_id' : 'other';
}
