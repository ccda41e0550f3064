/** A client for the bench itself; what is measured brings its own. */
import { createClient, createTransport, loadConfig, type Client, type Transport } from '@outrigger/kube';

export interface Connection extends AsyncDisposable {
  readonly client: Client;
  readonly transport: Transport;
}

export async function connect(kubeconfig: string): Promise<Connection> {
  const transport = createTransport(await loadConfig({ kubeconfig, env: {} }), { userAgent: 'bench' });
  return { client: createClient(transport), transport, [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose]() };
}
