import { createClient, createTransport, loadConfig, type Client, type ClientOptions } from '@outrigger/kube';

/** A client of the cluster that a kubeconfig file names, with that user's rights. Dispose of it: its connections close then. */
export async function clientOf(kubeconfig: string, options: ClientOptions = {}): Promise<Client & AsyncDisposable> {
  const transport = createTransport(await loadConfig({ kubeconfig }));
  return { ...createClient(transport, options), [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose]() };
}
