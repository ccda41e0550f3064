/** The requests by which a Classic Load Balancer comes from what it is to what it is to be. Each can be repeated without harm. */
import { asError, CloudError, type CallContext } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import { awsCodeOf, namedIn } from '../../client/aws-errors.ts';
import type { Listener as WireListener, LoadBalancerDescription } from '../../client/generated/elb.ts';
import type { BackEndAccess } from '../frame.ts';
import { checkServed, hasToWait, WaitsError, type Closed } from '../left-out.ts';
import {
  hasTls,
  listenersIn,
  PROXY_POLICY,
  shapeIn,
  TLS_POLICY,
  type ClassicHealthCheck,
  type ClassicListener,
} from './classic-shape.ts';

interface ChangeSetup {
  readonly client: Pick<AwsClient, 'elb'>;
  readonly access: Pick<BackEndAccess, 'open'>;
}

interface Refused {
  readonly ids: readonly string[];
  /** The first. */
  readonly error?: Error;
}

export class ClassicChange {
  readonly #elb: AwsClient['elb'];
  readonly #access: ChangeSetup['access'];
  readonly #call: CallContext;
  readonly #LoadBalancerName: string;

  constructor({ access, client }: ChangeSetup, name: string, call: CallContext) {
    this.#elb = client.elb;
    this.#access = access;
    this.#call = call;
    this.#LoadBalancerName = name;
  }

  async read(): Promise<readonly LoadBalancerDescription[]> {
    const asked = { LoadBalancerNames: [this.#LoadBalancerName] };
    return (await this.#elb(this.#call, 'DescribeLoadBalancers', asked)).LoadBalancerDescriptions ?? [];
  }

  /** The nodes let this one in before it counts. */
  async open(source: string, there: LoadBalancerDescription): Promise<void> {
    const instances = instancesIn(there);
    const closed = await this.#access.open(source, instances, this.#call);
    if (closed && hasToWait(closed, instances)) throw new WaitsError(closed.instances, closed.error);
  }

  async setGroups(SecurityGroups: readonly string[]): Promise<void> {
    const input = { LoadBalancerName: this.#LoadBalancerName, SecurityGroups };
    await this.#elb(this.#call, 'ApplySecurityGroupsToLoadBalancer', input);
  }

  /**
   * New zones first. A load balancer has one subnet of a zone, and always one: where another one of the same zone is to be, the old one
   * has to go right before it.
   */
  async subnets({ Subnets: there = [] }: LoadBalancerDescription, wanted: readonly string[]): Promise<void> {
    const removed = new Set(there.filter((id) => !wanted.includes(id)));
    const blocked = await this.#attach(wanted.filter((id) => !there.includes(id)));
    for (const id of blocked) removed.delete(await this.#swap(id, [...removed]));
    await this.#detach([...removed]);
  }

  /** Which one is of its zone is found by trying. Gives it back. */
  async #swap(id: string, old: readonly string[]): Promise<string> {
    for (const one of old) {
      await this.#detach([one]);
      const [isBlocked] = await this.#attach([id]);
      if (isBlocked === undefined) return one;
      await this.#attach([one]);
    }
    throw new CloudError('conflict', `subnet ${id}: the load balancer has another one of its zone, which is to stay`);
  }

  /**
   * A listener cannot be changed, but for its certificate: it goes and comes again, at once. Those of new ports come first, and nothing goes
   * for a certificate that AWS refuses.
   */
  async listeners(thing: LoadBalancerDescription, wanted: readonly ClassicListener[]): Promise<void> {
    const LoadBalancerName = this.#LoadBalancerName;
    const there = new Map(listenersIn(thing).map((one) => [one.port, one]));
    await this.#create(wanted.filter(({ port }) => !there.has(port)));
    const changed = wanted.filter((one) => {
      const old = there.get(one.port);
      return old !== undefined && !sameButCertificate(old, one);
    });
    const gone = [...there.keys()].filter((port) => !wanted.some((one) => one.port === port));
    const LoadBalancerPorts = [...changed.map(({ port }) => port), ...gone];
    await this.#tryCertificate(changed, there, wanted);
    await this.#deleteListeners(LoadBalancerPorts);
    await this.#create(changed);
    for (const { certificate, port } of wanted) {
      const old = there.get(port);
      if (!old || LoadBalancerPorts.includes(port) || certificate === undefined || old.certificate === certificate) {
        continue;
      }
      const input = { LoadBalancerName, LoadBalancerPort: port, SSLCertificateId: certificate };
      await this.#elb(this.#call, 'SetLoadBalancerListenerSSLCertificate', input);
    }
  }

  async tlsPolicy(listeners: readonly ClassicListener[], policy: string): Promise<void> {
    const PolicyName = `${TLS_POLICY}${policy}`;
    await this.#policy(PolicyName, 'SSLNegotiationPolicyType', ['Reference-Security-Policy', policy]);
    for (const { port: LoadBalancerPort } of listeners.filter(hasTls)) {
      await this.#elb(this.#call, 'SetLoadBalancerPoliciesOfListener', {
        LoadBalancerName: this.#LoadBalancerName,
        LoadBalancerPort,
        PolicyNames: [PolicyName],
      });
    }
  }

  async proxyPorts(there: LoadBalancerDescription, wanted: readonly number[]): Promise<void> {
    const { proxyPorts } = shapeIn(there);
    const added = wanted.filter((port) => !proxyPorts.includes(port));
    if (added.length > 0) await this.#policy(PROXY_POLICY, 'ProxyProtocolPolicyType', ['ProxyProtocol', 'true']);
    for (const port of added) await this.#setProxy(port, [PROXY_POLICY]);
    for (const port of proxyPorts) if (!wanted.includes(port)) await this.#setProxy(port, []);
  }

  async healthCheck(check: ClassicHealthCheck): Promise<void> {
    const { healthyThreshold, interval: Interval, target: Target, timeout: Timeout, unhealthyThreshold } = check;
    const thresholds = { HealthyThreshold: healthyThreshold, UnhealthyThreshold: unhealthyThreshold };
    await this.#elb(this.#call, 'ConfigureHealthCheck', {
      LoadBalancerName: this.#LoadBalancerName,
      HealthCheck: { Target, Interval, Timeout, ...thresholds },
    });
  }

  /**
   * The nodes let it in first. New ones come before old ones go, and these go whatever becomes of those that come; but where none comes or
   * stays, those that are there serve on. Rejects with a `LeftOutError` for those that cannot come, with a `WaitsError` where none is served.
   */
  async instances(there: LoadBalancerDescription, wanted: readonly string[], source?: string): Promise<void> {
    const registered = instancesIn(there);
    let closed: Closed | undefined;
    let refused: Refused = { ids: [] };
    let failure: Error | undefined;
    let taken = wanted.filter((id) => registered.includes(id));
    const coming = wanted.filter((id) => !registered.includes(id));
    try {
      // Those that come first: why the first one is kept out is told.
      if (source !== undefined) closed = await this.#access.open(source, [...coming, ...taken], this.#call);
      const letIn = coming.filter((id) => !closed?.instances.has(id));
      refused = await this.#register(letIn);
      taken = [...taken, ...letIn.filter((id) => !refused.ids.includes(id))];
    } catch (error) {
      this.#call.signal.throwIfAborted();
      failure = asError(error);
    }
    const going = registered.filter((id) => !wanted.includes(id));
    const mayGo = wanted.length === 0 || taken.length > 0;
    if (mayGo && going.length > 0) await this.#deregister(going);
    if (failure) throw failure;
    checkServed(wanted, registered, closed, refused);
  }

  async #deregister(ids: readonly string[]): Promise<void> {
    await this.#elb(this.#call, 'DeregisterInstancesFromLoadBalancer', {
      LoadBalancerName: this.#LoadBalancerName,
      Instances: ids.map((InstanceId) => ({ InstanceId })),
    });
  }

  /** Gives back those whose zone has one already. */
  async #attach(ids: readonly string[]): Promise<readonly string[]> {
    const blocked: string[] = [];
    for (const id of ids) {
      try {
        const input = { LoadBalancerName: this.#LoadBalancerName, Subnets: [id] };
        await this.#elb(this.#call, 'AttachLoadBalancerToSubnets', input);
      } catch (error) {
        if (awsCodeOf(error) !== 'InvalidConfigurationRequest') throw error;
        blocked.push(id);
      }
    }
    return blocked;
  }

  async #detach(Subnets: readonly string[]): Promise<void> {
    if (Subnets.length === 0) return;
    const input = { LoadBalancerName: this.#LoadBalancerName, Subnets };
    await this.#elb(this.#call, 'DetachLoadBalancerFromSubnets', input);
  }

  /** By a listener at a port of nobody, as no other request asks AWS about one. Where it has no room for that it is not known before. */
  async #tryCertificate(
    changed: readonly ClassicListener[],
    there: ReadonlyMap<number, ClassicListener>,
    wanted: readonly ClassicListener[],
  ): Promise<void> {
    const known = new Set([...there.values()].map(({ certificate }) => certificate));
    const one = changed.find(({ certificate }) => certificate !== undefined && !known.has(certificate));
    const old = one && there.get(one.port);
    if (!old) return;
    let port = 65_535;
    while (there.has(port) || wanted.some((each) => each.port === port)) port--;
    // Of listeners that lead to one port of the nodes, either all speak TLS to it or none.
    const targetProtocol = hasTls({ protocol: old.targetProtocol }) ? 'SSL' : 'TCP';
    try {
      await this.#create([{ ...one, port, protocol: 'SSL', nodePort: old.nodePort, targetProtocol }]);
    } catch (error) {
      if (awsCodeOf(error) !== 'InvalidConfigurationRequest') throw error;
    }
    await this.#deleteListeners([port]);
  }

  async #deleteListeners(LoadBalancerPorts: readonly number[]): Promise<void> {
    if (LoadBalancerPorts.length === 0) return;
    const LoadBalancerName = this.#LoadBalancerName;
    await this.#elb(this.#call, 'DeleteLoadBalancerListeners', { LoadBalancerName, LoadBalancerPorts });
  }

  async #create(listeners: readonly ClassicListener[]): Promise<void> {
    if (listeners.length === 0) return;
    await this.#elb(this.#call, 'CreateLoadBalancerListeners', {
      LoadBalancerName: this.#LoadBalancerName,
      Listeners: listeners.map(wireOf),
    });
  }

  /** The error names those that there are not: the others come in without them. */
  async #register(ids: readonly string[]): Promise<Refused> {
    let good = ids;
    let first: Error | undefined;
    while (good.length > 0) {
      try {
        await this.#elb(this.#call, 'RegisterInstancesWithLoadBalancer', {
          LoadBalancerName: this.#LoadBalancerName,
          Instances: good.map((InstanceId) => ({ InstanceId })),
        });
        break;
      } catch (error) {
        const gone = namedIn(error, /\bi-[0-9a-f]+\b/gu);
        const left = good.filter((id) => !gone.includes(id));
        if (left.length === good.length) throw error;
        first ??= asError(error);
        good = left;
      }
    }
    return { ids: ids.filter((id) => !good.includes(id)), ...(first && { error: first }) };
  }

  async #setProxy(InstancePort: number, PolicyNames: readonly string[]): Promise<void> {
    const input = { LoadBalancerName: this.#LoadBalancerName, InstancePort, PolicyNames };
    await this.#elb(this.#call, 'SetLoadBalancerPoliciesForBackendServer', input);
  }

  async #policy(PolicyName: string, PolicyTypeName: string, attribute: readonly [string, string]): Promise<void> {
    const [AttributeName, AttributeValue] = attribute;
    try {
      await this.#elb(this.#call, 'CreateLoadBalancerPolicy', {
        LoadBalancerName: this.#LoadBalancerName,
        PolicyName,
        PolicyTypeName,
        PolicyAttributes: [{ AttributeName, AttributeValue }],
      });
    } catch (error) {
      if (awsCodeOf(error) !== 'DuplicatePolicyName') throw error;
    }
  }
}

export const instancesIn = ({ Instances = [] }: LoadBalancerDescription): readonly string[] =>
  Instances.flatMap(({ InstanceId }) => InstanceId ?? []);

export function wireOf({ certificate, nodePort, port, protocol, targetProtocol }: ClassicListener): WireListener {
  return {
    Protocol: protocol,
    LoadBalancerPort: port,
    InstanceProtocol: targetProtocol,
    InstancePort: nodePort,
    ...(certificate !== undefined && { SSLCertificateId: certificate }),
  };
}

function sameButCertificate(a: ClassicListener, b: ClassicListener): boolean {
  const hasOne = ({ certificate }: ClassicListener): boolean => certificate !== undefined;
  const isSame = a.protocol === b.protocol && a.nodePort === b.nodePort && a.targetProtocol === b.targetProtocol;
  return isSame && hasOne(a) === hasOne(b);
}
