/** The API servers that are asked who callers are and what they may: from flags, or that of the pod. */
import { delegateAccess, type DelegatedAccess } from '@outrigger/controller-manager';
import { createClient, createTransport, loadConfig, userAgent, type Client, type ClusterConfig } from '@outrigger/kube';
import { EXPLAIN_PATH } from '../explain/explain-page.ts';
import { PLAN_PATH } from '../explain/plan-page.ts';
import type { Foundation } from '../program/foundation.ts';

/** As upstream's: callers wait for the answer, and whoever sends made-up tokens must not take the API server's time. */
const RATE_LIMIT = { qps: 200, burst: 400 };

/** Delegated access, and the connections beneath it. */
export interface Delegation extends AsyncDisposable {
  readonly access: DelegatedAccess;
}

/** `signal`: the program is to stop. Throws a `ConfigError` for a kubeconfig, an `AuthoritiesError` for a file of authorities that cannot be used. */
export async function openDelegation(foundation: Foundation, signal: AbortSignal): Promise<Delegation> {
  const { options } = foundation;
  await using opening = new AsyncDisposableStack();
  const connect = async (flag: string, kubeconfig: string): Promise<Client | undefined> => {
    const config = await configOf(foundation, flag, kubeconfig);
    return config && opening.use(connectionTo(foundation, config)).client;
  };
  const { authenticationKubeconfig } = options.authentication;
  const { authorizationKubeconfig } = options.authorization;
  const authenticationClient = await connect('--authentication-kubeconfig', authenticationKubeconfig);
  const access = opening.use(
    await delegateAccess({
      ...foundation,
      authentication: options.authentication,
      authenticationClient,
      authorization: options.authorization,
      authorizationClient:
        authorizationKubeconfig === authenticationKubeconfig
          ? authenticationClient
          : await connect('--authorization-kubeconfig', authorizationKubeconfig),
      bindAddress: options.serving.bindAddress,
      guarded: [EXPLAIN_PATH, PLAN_PATH],
      signal,
      logger: foundation.logger.with({ component: 'access' }),
    }),
  );
  const owned = opening.move();
  return { access, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** As upstream: the file, else the service account of the pod, else nobody. */
async function configOf(
  foundation: Foundation,
  kubeconfigFlag: string,
  kubeconfig: string,
): Promise<ClusterConfig | undefined> {
  const { clock, environment, logger, redactor } = foundation;
  if (kubeconfig === '' && !environment.env['KUBERNETES_SERVICE_HOST']) return undefined;
  return loadConfig({
    ...(kubeconfig === '' ? { kubeconfigPaths: [] } : { kubeconfig, kubeconfigFlag }),
    env: environment.env,
    clock,
    logger,
    onSecret: (secret, { rotating } = {}) =>
      redactor.add(secret, { rotating: rotating && `${kubeconfigFlag} ${rotating}` }),
  });
}

function connectionTo(
  { clock, logger, metrics, random }: Foundation,
  config: ClusterConfig,
): AsyncDisposable & { readonly client: Client } {
  const agent = userAgent({ suffix: 'access' });
  const transport = createTransport(config, {
    clock,
    logger,
    metrics,
    random,
    userAgent: agent,
    rateLimit: RATE_LIMIT,
  });
  return { client: createClient(transport), [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose]() };
}
