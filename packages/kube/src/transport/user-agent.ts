/** How this program calls itself: in audit logs, in priority and fairness, in the server's metrics. */
import packageJson from '../../package.json' with { type: 'json' };

export interface UserAgentOptions {
  /** Default: `outrigger`. */
  readonly program?: string;
  /** Default: the version of this package. */
  readonly version?: string;
  /** What part of the program asks. `CONTROLLER_SUFFIX` for controllers. */
  readonly suffix?: string;
  /** As Node names them. Default: this machine's. */
  readonly platform?: string;
  readonly arch?: string;
}

/** What the requests of controllers carry. */
export const CONTROLLER_SUFFIX = 'external-controller-manager';

/** Go's names, which people filter audit logs by. */
const GO_ARCH: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** `outrigger/0.1.0 (linux/amd64) external-controller-manager`. */
export function userAgent(options: UserAgentOptions = {}): string {
  const {
    program = 'outrigger',
    version = packageJson.version,
    suffix,
    platform = process.platform,
    arch = process.arch,
  } = options;
  const name = `${program}/${version} (${platform}/${GO_ARCH[arch] ?? arch})`;
  return suffix ? `${name} ${suffix}` : name;
}
