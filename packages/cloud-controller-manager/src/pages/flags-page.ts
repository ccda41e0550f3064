/** `docs/reference/flags.md`, written by `scripts/flags-page.ts`. */
import { renderFlagPage } from '@outrigger/controller-manager';
import { featureGates } from '../options/feature-gates.ts';
import { programFlags } from '../options/program-options.ts';

const HEAD = `# Flags of cloud-controller-manager

Generated from the flags themselves by \`node scripts/flags-page.ts\`; do not edit.

Flags are read as Kubernetes' programs read them: \`--name value\` or \`--name=value\`, a bool needs the \`=\`
(\`--leader-elect=false\`), \`_\` is \`-\`, lists and maps may be repeated, durations are written as \`1h2m3s\`. An unknown flag or
a bad value is one line that names it, and exit code 1, before anything is touched.

Exit codes: 0 when the program was asked to stop (SIGTERM, SIGINT) and has given its Lease back, and for \`--help\` and
\`--version\`; 1 for everything else. A second signal exits at once with 1. A manager that loses its Lease exits with 1.

Who is served what: \`/healthz\`, \`/livez\` and \`/readyz\` answer everybody. All else is for callers who prove who they are,
by a bearer token (TokenReview) or a client certificate, and may ask for that path (SubjectAccessReview: RBAC on
\`nonResourceURLs\`). For that the manager needs an API server: \`--authentication-kubeconfig\` and
\`--authorization-kubeconfig\`, or to be in a pod. Without, all else is served when \`--bind-address\` is a loopback address
(\`/explain/\` and \`PUT /debug/flags/v\` only with \`--insecure-loopback\`), or when \`--authorization-always-allow-paths\` lists it; it
answers 403 if not.

`;

/** A whole file for `--config`. */
export const CONFIG_EXAMPLE = `apiVersion: cloudcontrollermanager.config.k8s.io/v1alpha1
kind: CloudControllerManagerConfiguration
generic:
  controllers: ['*', '-node-route-controller']
kubeCloudShared:
  cloudProvider:
    name: openstack
    cloudConfigFile: /etc/outrigger/cloud.conf
  clusterName: production
outrigger:
  verbosity: 2
  cloudCallLimits: [openstack=20, 'openstack/load-balancer=2:4']
`;

export function flagsPage(): string {
  return `${HEAD}${renderFlagPage(programFlags)}\n${configSection()}\n${gatesSection()}`;
}

function configSection(): string {
  return `## The file of \`--config\`

Keys are those of \`/configz\`, as it prints them or in lowerCamelCase; what is on the command line wins. Anything else is refused
with file, line and key. \`outrigger\` is what upstream's type does not have: how much is logged (\`--v\`), and how fast each cloud is asked
(\`--cloud-call-limits\`). The file is read again every 10 s: these two change without a restart, and a file that changes anything
else, or is wrong, is refused as a whole, with one warning and \`outrigger_reload_successful{file="config"} 0\`.

\`\`\`yaml
${CONFIG_EXAMPLE}\`\`\`
`;
}

function gatesSection(): string {
  const rows = Object.entries(featureGates).map(
    ([name, { default: enabled, hasEffect = true, stage }]) =>
      `| \`${name}\` | ${stage} | ${enabled} | ${hasEffect ? 'yes' : 'accepted, changes nothing'} |`,
  );
  return `## Feature gates

\`--feature-gates\` knows all gates of upstream's program; \`AllAlpha\` and \`AllBeta\` set those of a stage that are not named. Most
of them belong to the API server's library, which upstream's program is linked with: here they change nothing, and one log line
says so when one is set.

| Gate | Stage | Default | Has an effect here |
|---|---|---|---|
${rows.join('\n')}
`;
}
