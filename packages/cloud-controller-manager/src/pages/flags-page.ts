/** `docs/reference/flags.md`, written by `scripts/flags-page.ts`. */
import { renderFlagPage } from '@outrigger/controller-manager';
import { featureGates } from '../options/feature-gates.ts';
import { programFlags } from '../options/program-options.ts';

const HEAD = `# Flags of cloud-controller-manager

Generated from the flags themselves by \`npx node scripts/flags-page.ts\`; do not edit.

Flags have the syntax of Kubernetes' components: \`--name value\` or \`--name=value\`; booleans need the \`=\`
(\`--leader-elect=false\`); \`_\` is equivalent to \`-\`; lists and maps can be repeated; durations are written as \`1h2m3s\`. An unknown
flag or an invalid value ends the program with one line that names it, and exit code 1, before anything is changed.

Exit codes: 0 when the program was stopped (SIGTERM, SIGINT) and has released its Lease, and for \`--help\` and
\`--version\`; 1 for everything else. A second signal exits at once with 1. A manager that loses its Lease exits with 1.

Access: \`/healthz\`, \`/livez\` and \`/readyz\` are served without authentication. All other paths require authentication by a bearer
token (TokenReview) or a client certificate, and authorization (SubjectAccessReview: RBAC on \`nonResourceURLs\`). The manager
delegates both to an API server: \`--authentication-kubeconfig\` and \`--authorization-kubeconfig\`, or the service account of its
pod. Without one, they are served only if \`--bind-address\` is a loopback address (\`/explain/\`, \`/debug/plan\` and
\`PUT /debug/flags/v\` also need \`--insecure-loopback\`), or if \`--authorization-always-allow-paths\` lists them; other requests get a 403.

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

Keys are those of \`/configz\`, as it prints them or in lowerCamelCase; flags on the command line override them. Any other key is rejected
with file, line and key. The section \`outrigger\` has what upstream's type does not have: log verbosity (\`--v\`) and rate limits of requests
to each cloud (\`--cloud-call-limits\`). The file is checked every 10 s: these two change without a restart; a file that changes anything
else, or is invalid, is rejected as a whole, with one warning and \`outrigger_reload_successful{file="config"} 0\`.

\`\`\`yaml
${CONFIG_EXAMPLE}\`\`\`
`;
}

function gatesSection(): string {
  const rows = Object.entries(featureGates).map(
    ([name, { default: enabled, hasEffect = true, stage }]) =>
      `| \`${name}\` | ${stage} | ${enabled} | ${hasEffect ? 'yes' : 'accepted, no effect'} |`,
  );
  return `## Feature gates

\`--feature-gates\` knows all gates of upstream's program; \`AllAlpha\` and \`AllBeta\` set those of a stage that are not named. Most
of them belong to the API server library, which upstream's program is linked with: here they have no effect, and a log line
says so if one is set.

| Gate | Stage | Default | Has an effect here |
|---|---|---|---|
${rows.join('\n')}
`;
}
