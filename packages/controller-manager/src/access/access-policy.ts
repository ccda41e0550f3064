/**
 * Who is served what. Paths that are always allowed (health) are for everybody: load balancers and the kubelet ask without
 * credentials, and must get an answer while the API server cannot be reached. All else is for callers who prove who they are
 * and whom the API server lets ask for that path. Where no API server is there to ask, all else is served on a loopback
 * address, where only this machine can ask, and refused on any other: nobody from outside can be told from anybody. But many
 * share a machine: what changes something, or says much, is refused there too, unless this is said to be no matter.
 */
import { isIPv4 } from 'node:net';
import { asError, type Clock, type Logger, type Metrics } from '@outrigger/kube';
import { onceAMinute } from '../logs/once-a-minute.ts';
import { createAccessMetrics } from './access-metrics.ts';
import { TooManyQuestionsError } from './peer-questions.ts';
import type { Authorize } from './subject-access.ts';
import {
  anonymousUser,
  asAuthenticated,
  UnauthenticatedError,
  type AccessRequest,
  type Authenticate,
  type User,
} from './user.ts';

/** `status` is that of HTTP. */
export type AccessDecision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly status: 401 | 403 | 429 | 500; readonly message: string };

export interface AccessPolicy {
  /** Never rejects. */
  decide(request: AccessRequest): Promise<AccessDecision>;
}

export interface AccessPolicyOptions {
  readonly bindAddress: string;
  /** Exact paths, or prefixes that end in `/*`, as upstream's path authorizer reads them. */
  readonly alwaysAllow: readonly string[];
  /** In the order in which they are asked. Without any, all callers are anonymous. */
  readonly authenticators?: readonly Authenticate[];
  /**
   * Without it, see above. It limits itself how many questions of one `peer` wait for an answer, as `delegateAccess` does: only it knows
   * which answers it has already.
   */
  readonly authorize?: Authorize | undefined;
  /** Prefixes of paths that a loopback address does not open, as it opens no writes. Default: none. */
  readonly guarded?: readonly string[];
  /** `--insecure-loopback`: it opens these too. Default: false. */
  readonly insecureLoopback?: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Paths that `--authorization-always-allow-paths` has by default. */
export const healthPaths: readonly string[] = ['/healthz', '/livez', '/readyz'];

/** May do everything, as in every API server. */
const PRIVILEGED = 'system:masters';
const ALLOWED: AccessDecision = { allowed: true };

export function createAccessPolicy(options: AccessPolicyOptions): AccessPolicy {
  return new Policy(options);
}

class Policy implements AccessPolicy {
  readonly #options: AccessPolicyOptions;
  readonly #rules: readonly string[];
  readonly #metrics: ReturnType<typeof createAccessMetrics>;
  readonly #isDue: (cause: string) => boolean;

  constructor(options: AccessPolicyOptions) {
    const { alwaysAllow } = options;
    this.#options = options;
    // Each check of health has a page of its own, which is as open as the page of all of them.
    this.#rules = [
      ...alwaysAllow,
      ...alwaysAllow.filter((path) => healthPaths.includes(path)).map((path) => `${path}/*`),
    ];
    this.#metrics = createAccessMetrics(options.metrics, options.clock);
    this.#isDue = onceAMinute(options.clock);
  }

  async decide(request: AccessRequest): Promise<AccessDecision> {
    const { authorize, bindAddress, logger } = this.#options;
    const { path } = request;
    if (this.#rules.some((rule) => (rule.endsWith('*') ? path.startsWith(rule.slice(0, -1)) : path === rule)))
      return ALLOWED;
    if (authorize === undefined && isLoopback(bindAddress) && !this.#isGuarded(request)) return ALLOWED;
    let user: User;
    try {
      user = await this.#metrics.authentication(() => this.#authenticate(request));
    } catch (error) {
      if (error instanceof TooManyQuestionsError) return this.#tooMany(request, error);
      // As upstream: who shows credentials that do not hold is not taken for anonymous.
      if (error instanceof UnauthenticatedError) {
        if (this.#isDue('rejected')) logger.verbose(2, 'Request rejected', { path, error });
      } else if (this.#isDue('authentication')) logger.warn('Authentication could not be completed', { path, error });
      return { allowed: false, status: 401, message: 'Unauthorized' };
    }
    if (user.groups.includes(PRIVILEGED)) return ALLOWED;
    if (authorize === undefined) {
      const message = isLoopback(bindAddress) ? unproved(path) : undelegated(path);
      return { allowed: false, status: 403, message };
    }
    try {
      if (await this.#metrics.authorization(() => authorize(user, request))) return ALLOWED;
    } catch (error) {
      if (error instanceof TooManyQuestionsError) return this.#tooMany(request, error);
      if (this.#isDue('authorization')) {
        logger.warn('Authorization could not be completed', { path, user: user.name, error });
      }
      return { allowed: false, status: 500, message: 'Internal Server Error: the API server could not be reached' };
    }
    const verb = request.method.toLowerCase();
    return {
      allowed: false,
      status: 403,
      message: `forbidden: User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(path)}`,
    };
  }

  #tooMany({ peer }: AccessRequest, { message }: TooManyQuestionsError): AccessDecision {
    if (this.#isDue('asking')) {
      this.#options.logger.warn('Requests refused: too many of one caller wait for the API server', { peer });
    }
    return { allowed: false, status: 429, message };
  }

  #isGuarded({ method, path }: AccessRequest): boolean {
    const { guarded = [], insecureLoopback = false } = this.#options;
    if (insecureLoopback) return false;
    return !['GET', 'HEAD'].includes(method) || guarded.some((prefix) => path.startsWith(prefix));
  }

  async #authenticate(request: AccessRequest): Promise<User> {
    const failures: Error[] = [];
    for (const authenticate of this.#options.authenticators ?? []) {
      try {
        const user = await authenticate(request);
        if (user) return asAuthenticated(user);
      } catch (error) {
        failures.push(asError(error));
      }
    }
    const [failure] = failures;
    if (failure) throw failure;
    return anonymousUser;
  }
}

function undelegated(path: string): string {
  return (
    `${path} is not served to callers from outside: let the API server authenticate and authorize callers (--authentication-kubeconfig, ` +
    '--authorization-kubeconfig), bind to a loopback address (--bind-address=127.0.0.1), or list the path in --authorization-always-allow-paths'
  );
}

function unproved(path: string): string {
  return (
    `${path} is not served to callers without authentication: set --authentication-kubeconfig and --authorization-kubeconfig, ` +
    'or --insecure-loopback on a machine that is not shared'
  );
}

/** 127.0.0.0/8 and ::1, also written as ::ffff:127.0.0.1. */
export function isLoopback(address: string): boolean {
  const mapped = address.toLowerCase().replace(/^::ffff:/u, '');
  return address === '::1' || (isIPv4(mapped) && mapped.startsWith('127.'));
}
