/** As whom each controller asks the API server: as the program, or under an account of its own (`--use-service-account-credentials`). */
import { requestedToken, type Client, type ClusterConfig, type Leadership } from '@outrigger/kube';
import { connectControllers, connectTokens } from './connect.ts';
import type { Foundation } from '../program/foundation.ts';

/** Of the accounts: upstream's, where kube-controller-manager has its own, too. */
export const ACCOUNT_NAMESPACE = 'kube-system';

export interface ControllerClients extends AsyncDisposable {
  /** The program's own: what all controllers share is read as it. */
  readonly shared: Client;
  /** For the controllers of this account; without one, the shared client. */
  of(account: string | undefined): Client;
}

/** All are fenced by `terms`, and all end together. */
export function openControllerClients(
  foundation: Foundation,
  config: ClusterConfig,
  terms: Pick<Leadership, 'guard' | 'perform'>,
): ControllerClients {
  const { clock, logger, options, redactor } = foundation;
  const owned = new AsyncDisposableStack();
  const shared = owned.use(connectControllers(foundation, config, terms)).client;
  const clients = new Map<string, Client>();
  // A token is asked for by a write, which a dry run makes none of.
  const separate = options.generic.useServiceAccountCredentials && !options.debugging.dryRun;
  let tokens: Client | undefined;
  const connect = (account: string): Client => {
    tokens ??= owned.use(connectTokens(foundation, config)).client;
    const credentials = requestedToken({
      client: tokens,
      account: { namespace: ACCOUNT_NAMESPACE, name: account },
      clock,
      logger,
      onSecret: (secret) => redactor.add(secret, { rotating: `account ${account}` }),
    });
    // A client certificate would say who it is before the token does.
    const { certificate: _certificate, key: _key, ...tls } = config.tls ?? {};
    return owned.use(connectControllers(foundation, { ...config, tls, credentials }, terms)).client;
  };
  return {
    shared,
    of: (account) => {
      if (!separate || account === undefined) return shared;
      const client = clients.get(account) ?? connect(account);
      clients.set(account, client);
      return client;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
