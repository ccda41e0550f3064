/** The load balancers of the provider, put together from the rooms beside this file. */
import { CloudError, type CallContext, type LoadBalancers } from '@outrigger/cloud-provider';
import type { AwsSetup } from '../cluster/aws-setup.ts';
import { ownedTags } from '../cluster/cluster-tags.ts';
import { AwsLoadBalancers, type FactsSource } from './aws-load-balancers.ts';
import { classicKind } from './clb/classic-kind.ts';
import { ClassicLook } from './clb/classic-look.ts';
import { NamedThings } from './named-things.ts';
import { SettingsMemory } from './observe/settings-memory.ts';
import { GroupLook } from './security-groups/group-look.ts';
import { NodeAccess } from './security-groups/node-access.ts';
import { securityGroupKind } from './security-groups/security-group-kind.ts';
import { chooseSubnets } from './subnets/choose-subnets.ts';
import { NetworkLook } from './subnets/network-look.ts';

export function createAwsLoadBalancers(setup: AwsSetup): LoadBalancers {
  const { client, cluster: own, config, host, name, place } = setup;
  const { clock, cluster } = host;
  const look = new GroupLook({ client, clock, cluster, own });
  const access = new NodeAccess({ look, config });
  const network = new NetworkLook({ client, clock, own });
  return new AwsLoadBalancers({
    name,
    client,
    config,
    host,
    place,
    access,
    facts: factsOf(own, access, network),
    named: new NamedThings({ client, network }),
    otherKinds: (kinds) => [
      securityGroupKind({ ...kinds, look, access }),
      classicKind({
        ...kinds,
        access,
        classics: new ClassicLook({ client, clock }),
        settings: new SettingsMemory(clock),
      }),
    ],
  });
}

function factsOf(cluster: AwsSetup['cluster'], access: NodeAccess, network: NetworkLook): FactsSource {
  return {
    refresh: async (call: CallContext) => {
      try {
        await cluster.learn(call);
      } finally {
        // By our own tags groups are known whatever is not.
        await access.refresh(call);
      }
      await network.refresh(call);
    },
    current: () => {
      const { known } = cluster;
      const { facts } = network;
      if (!known || !facts) throw new CloudError('unavailable', 'the cluster and its VPC are not known yet');
      return {
        clusterTags: ownedTags(known.tags),
        vpcId: known.vpcId,
        subnetsFor: ({ families, isInternal, subnets }, current, leave) =>
          chooseSubnets(facts, { families, isInternal, subnets, current, leave }).map(({ id }) => id),
        rangesOf: (ids) => facts.subnets.flatMap(({ id, ranges }) => (ids.includes(id) ? ranges : [])),
      };
    },
  };
}
