/** Load balancers over the fake AWS, Classic ones among them. */
import assert from 'node:assert/strict';
import type {
  BackEnd,
  CallContext,
  DesiredLoadBalancer,
  LoadBalancerObservation,
  LoadBalancerPart,
  LoadBalancerPlan,
  LoadBalancerService,
} from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import type { Fetch } from '@outrigger/provider-kit';
import { FakeClock } from '@outrigger/testing';
import { withJudgedOthers } from '../../../../../packages/controllers/src/load-balancer/bring-to.ts';
import { checkPlan } from '../../../../../packages/controllers/src/load-balancer/check-plan.ts';
import type { ClassicLoadBalancer } from '../../../fake/elb/classic-load-balancer.ts';
import { createFakeAws, type FakeAws } from '../../../fake/fake-aws.ts';
import type { SeededCluster } from '../../../fake/aws-world.ts';
import { createAwsClient } from '../../client/aws-client.ts';
import { ownedTags } from '../../cluster/cluster-tags.ts';
import type { aService } from '../annotations/a-service.suite.ts';
import { AwsLoadBalancers } from '../aws-load-balancers.ts';
import { bringToItsEnd } from '../bring-to-its-end.suite.ts';
import { NamedThings } from '../named-things.ts';
import { SettingsMemory } from '../observe/settings-memory.ts';
import { GroupLook } from '../security-groups/group-look.ts';
import { NodeAccess } from '../security-groups/node-access.ts';
import { securityGroupKind } from '../security-groups/security-group-kind.ts';
import { chooseSubnets } from '../subnets/choose-subnets.ts';
import { NetworkLook } from '../subnets/network-look.ts';
import { classicKind } from './classic-kind.ts';
import { ClassicLook } from './classic-look.ts';

export type Given = Parameters<typeof aService>[0];

export const CLUSTER = { id: 'uid-1', name: 'kubernetes' };

export class ClassicRig {
  readonly clock: FakeClock = new FakeClock();
  readonly aws: FakeAws = createFakeAws({ clock: this.clock });
  readonly cluster: SeededCluster = this.aws.seedCluster();
  elbSecurityGroup: string | undefined;
  balancers!: AwsLoadBalancers;

  constructor() {
    this.restart();
  }

  #loss: { after: number; readonly takesEffect: boolean } | undefined;

  /** The answer to the n-th write from now on is lost. */
  loseWrite(after: number, takesEffect: boolean): void {
    this.#loss = { after, takesEffect };
  }

  get isLossPending(): boolean {
    return this.#loss !== undefined;
  }

  readonly #fetch: Fetch = async (url, init) => {
    const isWrite = !/Action=Describe/u.test(String(init?.body));
    if (!isWrite || !this.#loss || this.#loss.after-- > 0) return this.aws.fetch(url, init);
    const { takesEffect } = this.#loss;
    this.#loss = undefined;
    if (takesEffect) await this.aws.fetch(url, init);
    throw new TypeError('the connection is closed');
  };

  /** Another process, which knows nothing of what the one before has done. */
  restart(): void {
    const { clock, cluster } = this;
    const known = { vpcId: cluster.vpcId, tags: { id: cluster.clusterId, isLegacy: false } };
    const host = { clock, logger: silentLogger, callContext: () => this.call, redact: () => undefined };
    const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' };
    const client = createAwsClient({ host, region: 'eu-central-1', credentials, fetch: this.#fetch });
    const groups = new GroupLook({ client, clock, cluster: CLUSTER, own: { known } });
    const access = new NodeAccess({ look: groups, config: () => ({ nodeSecurityGroups: [] }) });
    const network = new NetworkLook({ client, clock, own: { known } });
    this.balancers = new AwsLoadBalancers({
      name: 'aws',
      client,
      config: () => ({ elbSecurityGroup: this.elbSecurityGroup }),
      host: { clock, cluster: CLUSTER },
      access,
      named: new NamedThings({ client, network }),
      facts: {
        refresh: async (call) => {
          await access.refresh(call);
          await network.refresh(call);
        },
        current: () => ({
          clusterTags: ownedTags(known.tags),
          vpcId: known.vpcId,
          rangesOf: () => [],
          subnetsFor: (settings, current, leave) =>
            chooseSubnets(network.facts ?? { subnets: [] }, { ...settings, current, leave }).map(({ id }) => id),
        }),
      },
      otherKinds: (kinds) => {
        const classics = new ClassicLook({ client, clock });
        const settings = new SettingsMemory(clock);
        return [
          securityGroupKind({ ...kinds, look: groups, access }),
          classicKind({ ...kinds, access, classics, settings }),
        ];
      },
    });
  }

  get call(): CallContext {
    const { signal } = new AbortController();
    return { signal, priority: 'normal', logger: silentLogger, call: (_operation, send) => send(signal) };
  }

  desired(service: LoadBalancerService, nodes: readonly number[] = [0, 1, 2]): DesiredLoadBalancer {
    const backEnds = nodes.map((n): BackEnd => {
      const id = this.cluster.instances[n]?.id;
      const node = {
        name: `node-${n}`,
        uid: `${n}`,
        providerID: `aws:///eu-central-1a/${id}`,
        labels: {},
        annotations: {},
      };
      return { node, addresses: [] };
    });
    return { service, wanted: true, owner: { clusterId: CLUSTER.id, uid: service.uid }, backEnds };
  }

  async parts(service: LoadBalancerService): Promise<readonly LoadBalancerPart[]> {
    return (await this.#look(service)).parts;
  }

  /** With the host's word on what the Service names, and with its check of the plan. */
  async plan(desired: DesiredLoadBalancer): Promise<LoadBalancerPlan> {
    const seen = await this.#look(desired.service);
    const judged = withJudgedOthers({}, desired, seen);
    const plan = this.balancers.plan(judged, seen.parts);
    checkPlan(plan, judged, seen.parts);
    return plan;
  }

  async #look(service: LoadBalancerService): Promise<Extract<LoadBalancerObservation, { kind: 'parts' }>> {
    const [seen] = await this.balancers.observe([service], this.call);
    assert.ok(seen?.kind === 'parts', seen?.kind === 'failed' ? seen.error.stack : 'the look failed');
    return seen;
  }

  /** As the host does it, until a plan has nothing more to do; gives back what was done. Rejects where `apply` does. */
  bring(desired: DesiredLoadBalancer): Promise<readonly string[]> {
    return bringToItsEnd(this, desired, 40);
  }

  /** The only Classic Load Balancer of the account. */
  get classic(): ClassicLoadBalancer {
    const [one, other] = this.aws.account.classics.all();
    assert.ok(one && !other);
    return one;
  }

  /** Rules of the nodes' group: who is let in. */
  letIn(): readonly string[] {
    const rules = this.aws.account.rules
      .all()
      .filter((one) => one.groupId === this.cluster.nodeGroupId && !one.isEgress);
    return rules.map(({ ipv4, referencedGroupId }) => `${referencedGroupId ?? ipv4}`).toSorted();
  }
}
