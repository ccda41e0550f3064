/** `docs/reference/flags.md`, written by `scripts/flags-page.ts`. */
import { renderFlagPage } from '@outrigger/controller-manager';
import { featureGates } from './options/feature-gates.ts';
import { programFlags } from './options/program-options.ts';

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
\`--authorization-kubeconfig\`, or to be in a pod. Without, all else is served when \`--bind-address\` is a loopback address,
or when \`--authorization-always-allow-paths\` lists it; it answers 403 if not.

`;

export function flagsPage(): string {
  return `${HEAD}${renderFlagPage(programFlags)}\n${gatesSection()}`;
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
