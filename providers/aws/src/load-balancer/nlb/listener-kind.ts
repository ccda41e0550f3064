/** Listeners: one a port, which leads to a target group. They belong to their load balancer, and go with it. */
import { CloudError } from '@outrigger/cloud-provider';
import type { Attributes, ListedPart, PartKind } from '@outrigger/provider-kit';
import type { CreateListenerInput, Listener } from '../../client/generated/elbv2.ts';
import { LISTENER, LOAD_BALANCER, TARGET_GROUP } from '../frame.ts';
import { arnOf } from '../observe/elbv2-look.ts';
import { readTags } from '../observe/read-tags.ts';
import { ownerIn, tagList, type Tags } from '../ownership.ts';
import { made, readSurely, tagsOfRequest, wantedOf, type NlbSetup } from './nlb-setup.ts';
import { currentKey, targetGroupKey } from './target-group-kind.ts';

interface Shape {
  readonly loadBalancer: string;
  readonly protocol: NonNullable<Listener['Protocol']>;
  readonly targetGroup: string;
  /** ARN. */
  readonly certificate: string | null;
  readonly tlsPolicy: string | null;
}

const ARN = /^arn:[a-z-]+:elasticloadbalancing:[a-z0-9-]+:\d+:listener\/net\/[\w-]+\/\w+\/\w+$/u;
/** AWS takes minutes for a new load balancer. */
const PROVISIONING_MS = 20_000;
/** What its API gives to one that names none. */
const USUAL_TLS_POLICY = 'ELBSecurityPolicy-2016-08';

export function listenerKind(setup: NlbSetup): PartKind {
  const { client, look } = setup;
  return {
    kind: LISTENER,
    needs: [LOAD_BALANCER, TARGET_GROUP],
    goesWith: LOAD_BALANCER,
    // Without TLS a policy does nothing, whether one is shown or not.
    compare: { tlsPolicy: (there, wanted) => wanted === null || there === wanted },
    wanted: (desired, there) =>
      wantedOf(setup, desired, there, (settings) => {
        const loadBalancer = there(LOAD_BALANCER)?.id;
        const wanted = settings.listeners.flatMap((one) => {
          const { certificate = null, port, protocol, tlsPolicy = USUAL_TLS_POLICY } = one;
          const key = `${port}`;
          const groupKey = targetGroupKey(one, settings);
          // Until then nothing of it changes: its protocol has to fit its target group.
          if (currentKey(one, settings, there) !== groupKey) return [{ key, attributes: {} }];
          const targetGroup = there(TARGET_GROUP, groupKey)?.id;
          if (loadBalancer === undefined || targetGroup === undefined) return [];
          const shape: Shape = {
            loadBalancer,
            protocol: protocol as Shape['protocol'],
            targetGroup,
            certificate,
            tlsPolicy: protocol === 'TLS' ? tlsPolicy : null,
          };
          return [{ key, attributes: { ...shape } }];
        });
        return wanted.length === settings.listeners.length ? wanted : undefined;
      }),
    list: async (call, services) => {
      const { listeners, loadBalancers } = await look.things(call, services);
      const tags = new Map(loadBalancers.map((one) => [arnOf(one.thing), one.tags]));
      return listeners.map((one) => shownAs(one, tags.get(one.LoadBalancerArn ?? '') ?? {}));
    },
    read: async (id, call) => {
      if (!ARN.test(id)) throw new CloudError('invalid', `${LISTENER}: this is no ARN of a listener`);
      const isYoung = look.listeners.isYoung(id) && !look.loadBalancers.wasDeleted(parentOf(id));
      const one = await readSurely(id, isYoung, async () => {
        const { Listeners } = await client.elbv2(call, 'DescribeListeners', { ListenerArns: [id] });
        return Listeners;
      });
      const { LoadBalancerArn: parent = '' } = one;
      return shownAs(one, (await readTags(client, [parent], call)).get(parent) ?? {});
    },
    create: async (request, call) => {
      const tags = tagsOfRequest(setup, request);
      const { loadBalancer } = shapeIn(request.attributes);
      const input: CreateListenerInput = {
        LoadBalancerArn: loadBalancer,
        Port: Number(request.key),
        ...inputOf(request.attributes),
        Tags: tagList(tags),
      };
      // After what is pending, actions may have to wait.
      const isLast = setup.settingsOf(request.desired).listeners.at(-1)?.port === input.Port;
      const { Listeners } = await client.elbv2(call, 'CreateListener', input);
      const one = made('CreateListener', Listeners);
      look.listeners.created(one.ListenerArn ?? '', one, tags);
      const id = one.ListenerArn ?? '';
      if (!isLast || !look.isProvisioning(loadBalancer)) return { id };
      return { id, begun: { handle: `${loadBalancer}: provisioning`, pollAfterMs: PROVISIONING_MS } };
    },
    update: async (id, { attributes, key }, call) => {
      const input = { ListenerArn: id, Port: Number(key), ...inputOf(attributes) };
      await client.elbv2(call, 'ModifyListener', input);
    },
    delete: async (id, call) => {
      await client.elbv2(call, 'DeleteListener', { ListenerArn: id });
      look.listeners.deleted(id);
    },
  };
}

/** ARN of the load balancer that a listener belongs to, and goes with. */
function parentOf(arn: string): string {
  return arn.replace(':listener/', ':loadbalancer/').replace(/\/\w+$/u, '');
}

/** What `wanted` has said. */
function shapeIn(attributes: Attributes): Shape {
  return attributes as unknown as Shape;
}

function inputOf(
  attributes: Attributes,
): Pick<CreateListenerInput, 'Protocol' | 'DefaultActions' | 'Certificates' | 'SslPolicy'> {
  const { certificate, protocol, targetGroup, tlsPolicy } = shapeIn(attributes);
  return {
    Protocol: protocol,
    DefaultActions: [{ Type: 'forward', TargetGroupArn: targetGroup }],
    ...(certificate !== null && { Certificates: [{ CertificateArn: certificate }] }),
    ...(tlsPolicy !== null && { SslPolicy: tlsPolicy }),
  };
}

/** Whose it is its load balancer says: nothing else can have a listener there. */
function shownAs(one: Listener, tags: Tags): ListedPart {
  const {
    Certificates: [certificate] = [],
    DefaultActions: [action] = [],
    ListenerArn: id = '',
    LoadBalancerArn,
    Port,
    Protocol,
    SslPolicy,
  } = one;
  return {
    id,
    key: `${Port}`,
    owner: ownerIn(tags),
    state: 'ready',
    attributes: {
      loadBalancer: LoadBalancerArn,
      protocol: Protocol,
      targetGroup: action?.TargetGroupArn ?? action?.ForwardConfig?.TargetGroups?.[0]?.TargetGroupArn,
      certificate: certificate?.CertificateArn ?? null,
      tlsPolicy: SslPolicy || null,
    },
  };
}
