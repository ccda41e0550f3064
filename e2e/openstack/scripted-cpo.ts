/**
 * Plays cloud-provider-openstack in a cluster over the fake OpenStack: it holds the Lease of its kind, and of the Services it serves
 * those that have no load balancer yet, by CPO's own sequence of calls.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import {
  LeaderElector,
  leaderIdentity,
  noMetrics,
  resources,
  silentLogger,
  systemClock,
  systemRandom,
  type Client,
  type Leadership,
  type Service,
} from '@outrigger/kube';
import {
  cpoEnsure,
  cpoWouldChange,
  type CpoWorld,
} from '../../providers/openstack/src/load-balancer/cpo-calls.suite.ts';
import { cpoServiceOf, writeAsCpo } from './cpo-services.ts';

const NAMED = 'loadbalancer.openstack.org/load-balancer-id';

export class ScriptedCpo implements AsyncDisposable {
  readonly #client: Client;
  readonly #world: CpoWorld;
  readonly #stopped = new AbortController();
  #running: Promise<Leadership> | undefined;

  constructor(client: Client, world: CpoWorld) {
    this.#client = client;
    this.#world = world;
  }

  /** As one more candidate. `leaseDurationMs`: as the others have it. */
  start(leaseDurationMs: number): void {
    const elector = new LeaderElector({
      leases: this.#client.of(resources.leases),
      namespace: 'kube-system',
      name: 'cloud-controller-manager',
      identity: leaderIdentity('cpo', randomUUID()),
      clock: systemClock,
      logger: silentLogger,
      metrics: noMetrics,
      random: systemRandom,
      leaseDurationMs,
      renewDeadlineMs: (leaseDurationMs * 2) / 3,
      retryPeriodMs: leaseDurationMs / 6,
    });
    this.#running = elector.acquire(this.#stopped.signal).then(async (term) => {
      await this.#serve();
      return term;
    });
    this.#running.catch(() => undefined);
  }

  /** Resolves when it leads, and serves what there is. */
  async serving(): Promise<void> {
    await this.#running;
  }

  /** Gives the Lease back. */
  async stop(): Promise<void> {
    const term = await this.#running;
    await term?.release();
    this.#running = undefined;
  }

  /** What it would change of what it finds. */
  async wouldChange(): Promise<readonly string[]> {
    const services = (await this.services()).map((service) => cpoWouldChange(this.#world, service));
    return (await Promise.all(services)).flat();
  }

  async services(): Promise<readonly LoadBalancerService[]> {
    const { items } = await this.#client.of(resources.services).list();
    return items.filter(({ spec }: Service) => spec?.type === 'LoadBalancer').map(cpoServiceOf);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort();
    await this.#running?.then(
      (term) => term.release(),
      () => undefined,
    );
  }

  async #serve(): Promise<void> {
    for (const service of await this.services()) {
      if (service.annotations[NAMED] !== undefined) continue;
      const made = await cpoEnsure(this.#world, service, { securityGroup: true });
      assert.ok(made.ingress.length > 0);
      await writeAsCpo(this.#client, made);
    }
  }
}
