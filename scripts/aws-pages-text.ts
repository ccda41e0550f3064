/** The pages of AWS' configuration and of its permissions, made of the keys that are read and the actions that are needed. */
import { configTable } from '@outrigger/provider-kit';
import { keys } from '../providers/aws/src/config/config-keys.ts';
import { permissions } from '../providers/aws/src/permissions.ts';

const CONFIG_HEAD = `# Configuration

<!-- Made by scripts/aws-pages.ts of the keys that the file is read by. -->

\`--cloud-config\` takes the file of cloud-provider-aws, in its format. An unknown key is logged with its line, and with the key that it may mean. Without
a file, all is found out by the metadata service of the instance that the program runs on.

\`\`\`ini
[Global]
Region = eu-central-1
KubernetesClusterID = my-cluster
VPC = vpc-0123456789abcdef0

[ServiceOverride "1"]
Service = EC2
Region = eu-central-1
URL = https://vpce-1.ec2.eu-central-1.vpce.amazonaws.com
SigningRegion = eu-central-1
\`\`\`

In the file a key has no capitals to keep to: \`subnetId\` is \`SubnetID\`, \`vpc\` is \`VPC\`.

`;

const CONFIG_MORE = `
## Credentials

None are in the file. They are found as AWS' tools find them: by the environment, a profile, a web identity (IRSA), the container's endpoint (EKS Pod Identity, ECS), the
instance's role. With \`RoleARN\` that role is assumed by them. [What it has to be granted](iam.md).

A changed file is read again while the program runs. It is refused, and the old one stays, where its credentials are, or where they lead to another account or region.
`;

export function configPage(): string {
  return `${CONFIG_HEAD}${configTable(keys)}${CONFIG_MORE}`;
}

/** What kubelets need to pull images of a private ECR; nothing of the provider runs on nodes. */
const OF_NODES: readonly string[] = [
  'ecr:BatchCheckLayerAvailability',
  'ecr:BatchGetImage',
  'ecr:GetAuthorizationToken',
  'ecr:GetDownloadUrlForLayer',
];

/** Of each capability, for people. */
const MEANING: Readonly<Record<keyof typeof permissions, string>> = {
  instances: 'nodes',
  loadBalancers: 'Services of type LoadBalancer',
  routes: 'routes of pods',
  volumes: 'labels of PersistentVolumes',
  clusters: 'names of clusters',
  podRanges: 'ranges of pods',
  nodeTags: 'tags on the instances of nodes',
};

export function iamPage(): string {
  const lists = Object.entries(permissions).map(([capability, actions]) => ({ capability, actions }));
  const all = [...new Set(lists.flatMap(({ actions }) => actions))].toSorted((a, b) => (a < b ? -1 : 1));
  const rows = lists.map(({ actions, capability }) => {
    const meaning = MEANING[capability as keyof typeof permissions];
    return `| ${meaning} | ${actions.map((action) => `\`${action}\``).join(', ')} |`;
  });
  return `# IAM

<!-- Made by scripts/aws-pages.ts of src/permissions.ts, which a test holds to the operations in the code. -->

## Control plane

For the role of the program: that of the instances of the control plane, or one of its own.

${policy(all)}
The same by what the program does. What you do not use needs no permission: the controllers of it can be turned off (\`--controllers\`), and \`outrigger rbac\` prints
the actions for those that run.

| For | Actions |
|---|---|
${rows.join('\n')}

\`sts:GetCallerIdentity\` needs no permission. With \`RoleARN\` the program's own role needs \`sts:AssumeRole\` for that role, which has the policy above.
Beside the policy of cloud-provider-aws, the actions of Auto Scaling, of KMS, and those that attach and delete volumes are gone: nothing calls them.

A test gives each line of the table, and nothing more, to a fake AWS that refuses all other actions: nodes, load balancers of both kinds in all their changes, routes and
volumes come and go. With any one action taken away something of that fails. The fake knows actions alone, no \`Resource\` and no \`Condition\`, and no
\`iam:CreateServiceLinkedRole\`.

## Nodes

The program runs on none of them. Kubelets that pull images of a private ECR by [the image credential plugin](../../../docs/guides/image-credentials.md):

${policy(OF_NODES)}`;
}

function policy(actions: readonly string[]): string {
  const document = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: actions, Resource: '*' }] };
  return `\`\`\`json\n${JSON.stringify(document, undefined, 2)}\n\`\`\`\n`;
}
