/** The API server of `make run`: embedded, or etcd and kube-apiserver as they are shipped. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createClient, createTransport, loadConfig, userAgent, type Client } from '@outrigger/kube';
import { startControlPlane, startEmbeddedApiServer } from '@outrigger/testing';

export interface Cluster extends AsyncDisposable {
  /** `embedded`, `etcd + kube-apiserver 1.37`. */
  readonly kind: string;
  readonly url: string;
  readonly client: Client;
}

/** Starts it and leaves its kubeconfig at `kubeconfig`. */
export async function startCluster(real: boolean, kubeconfig: string): Promise<Cluster> {
  await using starting = new AsyncDisposableStack();
  const { kind, text, url } = real ? await startReal(starting) : await startEmbedded(starting);
  await mkdir(dirname(kubeconfig), { recursive: true });
  // It holds credentials, if only those of a cluster that ends with this command. An older one keeps its mode: it goes first.
  await rm(kubeconfig, { force: true });
  await writeFile(kubeconfig, text, { mode: 0o600 });
  const config = await loadConfig({ kubeconfig });
  const transport = starting.use(createTransport(config, { userAgent: userAgent({ suffix: 'make-run' }) }));
  const owned = starting.move();
  return { kind, url, client: createClient(transport), [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

interface Started {
  readonly kind: string;
  readonly url: string;
  /** Of the kubeconfig. */
  readonly text: string;
}

async function startEmbedded(owned: AsyncDisposableStack): Promise<Started> {
  const server = owned.use(await startEmbeddedApiServer());
  return { kind: 'embedded', url: server.url, text: server.kubeconfig().yaml };
}

async function startReal(owned: AsyncDisposableStack): Promise<Started> {
  const controlPlane = owned.use(await startControlPlane({ auditLog: false }));
  const { kubeconfig, kubernetes, server } = controlPlane;
  return { kind: `etcd + kube-apiserver ${kubernetes}`, url: server, text: kubeconfig.text };
}
