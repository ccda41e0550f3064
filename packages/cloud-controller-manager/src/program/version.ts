/** What this program is, for `--version`, `/version` and the `kubernetes_build_info` metric. */
import packageJson from '../../package.json' with { type: 'json' };

/** `v0.1.0`. */
export const version: string = `v${packageJson.version}`;

const GO_ARCH: Readonly<Record<string, string>> = { x64: 'amd64' };

/** The fields of upstream's `/version`, as far as they mean something here. */
export function versionInfo(): Readonly<Record<string, string>> {
  const [major = '0', minor = '0'] = packageJson.version.split('.');
  return {
    major,
    minor,
    gitVersion: version,
    platform: `${process.platform}/${GO_ARCH[process.arch] ?? process.arch}`,
    nodeVersion: process.version,
  };
}
