/** How the load balancer finds out which nodes can take traffic. Pure. */
import { type LoadBalancerService } from '@outrigger/cloud-provider';
import { annotations, type Annotations } from './annotation-rows.ts';

export interface HealthCheck {
  readonly protocol: 'TCP' | 'HTTP' | 'HTTPS' | 'SSL';
  /** `undefined`: the port of the traffic; of a Classic Load Balancer the first one's node port. */
  readonly port: number | undefined;
  /** Of HTTP and HTTPS. */
  readonly path: string | undefined;
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
  /** Seconds. */
  readonly interval: number;
  /** Seconds; `undefined`: that of AWS. */
  readonly timeout: number | undefined;
}

/** Of the cloud config. */
export interface HealthProbeConfig {
  /** Default: each port of each Service is asked. */
  readonly clusterHealthProbe?: {
    /** `Shared`: of a Service with `externalTrafficPolicy: Cluster`, kube-proxy is asked. */
    readonly mode: 'ServiceNodePort' | 'Shared';
    readonly port: number;
    readonly path: string;
  };
}

type Target = Pick<HealthCheck, 'protocol' | 'port' | 'path'>;

const HEALTHZ = '/healthz';
const CLASSIC = { healthyThreshold: 2, unhealthyThreshold: 6, interval: 10, timeout: 5 };
const NLB = { healthyThreshold: 3, unhealthyThreshold: 3, interval: 30, timeout: undefined };
const NLB_LOCAL = { ...NLB, healthyThreshold: 2, unhealthyThreshold: 2, interval: 10 };
/** Of a Classic Load Balancer, where an NLB has 120. */
const CLASSIC_TIMEOUT = 60;

export function healthCheckOf(
  service: LoadBalancerService,
  set: Annotations,
  type: 'nlb' | 'clb',
  config: HealthProbeConfig,
): HealthCheck {
  const isLocal = service.externalTrafficPolicy === 'Local' && service.healthCheckNodePort !== undefined;
  const usual = type === 'clb' ? CLASSIC : isLocal ? NLB_LOCAL : NLB;
  const check = {
    ...targetOf(service, set, type, config),
    healthyThreshold: set.healthyThreshold ?? usual.healthyThreshold,
    unhealthyThreshold: set.unhealthyThreshold ?? usual.unhealthyThreshold,
    interval: set.healthInterval ?? usual.interval,
    timeout: set.healthTimeout ?? usual.timeout,
  };
  if (
    type === 'clb' &&
    check.timeout !== undefined &&
    (check.timeout >= check.interval || check.timeout > CLASSIC_TIMEOUT)
  ) {
    const why = `a Classic Load Balancer takes less than its interval, ${check.interval}, and at most ${CLASSIC_TIMEOUT}`;
    if (set.healthTimeout !== undefined) annotations.refuse('healthTimeout', `${check.timeout}`, why);
    annotations.refuse('healthInterval', `${check.interval}`, `it has to be more than the timeout, ${check.timeout}`);
  }
  return check;
}

/** As cloud-provider-aws: the annotations over what the policy says; of an NLB `Shared` over both, of a Classic one below them. */
function targetOf(
  { externalTrafficPolicy, healthCheckNodePort }: LoadBalancerService,
  set: Annotations,
  type: 'nlb' | 'clb',
  config: HealthProbeConfig,
): Target {
  const { mode, path, port: probed } = config.clusterHealthProbe ?? {};
  const isShared = mode === 'Shared' && externalTrafficPolicy !== 'Local';
  const shared: Target | undefined = isShared ? { protocol: 'HTTP', port: probed, path } : undefined;
  if (shared && type === 'nlb') return shared;
  const isLocal = externalTrafficPolicy === 'Local' && healthCheckNodePort !== undefined;
  const usual: Target = isLocal
    ? { protocol: 'HTTP', port: healthCheckNodePort, path: HEALTHZ }
    : (shared ?? plain(set, type));
  const protocol = protocolOf(set, type) ?? usual.protocol;
  const port = set.healthPort === undefined ? usual.port : portOf(set.healthPort, shared);
  const hasPath = protocol === 'HTTP' || protocol === 'HTTPS';
  return { protocol, port, path: hasPath ? (set.healthPath ?? usual.path ?? '/') : undefined };
}

/** Of a Classic Load Balancer in the mode `Shared`, `traffic-port` changes nothing upstream. */
function portOf(text: string, shared: Target | undefined): number | undefined {
  return text === 'traffic-port' ? shared?.port : Number(text);
}

function plain({ backendProtocol }: Annotations, type: 'nlb' | 'clb'): Target {
  const isTls = type === 'clb' && (backendProtocol === 'https' || backendProtocol === 'ssl');
  return { protocol: isTls ? 'SSL' : 'TCP', port: undefined, path: undefined };
}

function protocolOf({ healthProtocol }: Annotations, type: 'nlb' | 'clb'): HealthCheck['protocol'] | undefined {
  const word = healthProtocol?.toUpperCase();
  if (word === 'SSL' && type === 'nlb')
    annotations.refuse('healthProtocol', `${healthProtocol}`, 'an NLB has no such check');
  return word === 'TCP' || word === 'HTTP' || word === 'HTTPS' || word === 'SSL' ? word : undefined;
}
