/** The page of the configuration, made of the keys that it is read by. */
import { configTable } from '@outrigger/provider-kit';
import { inTreeKeys, yamlKeys } from '../providers/vsphere/src/config/config-keys.ts';

const HEAD = `# Configuration

<!-- Made by scripts/vsphere-config-page.ts of the keys that the file is read by. -->

\`--cloud-config\` takes the files of cloud-provider-vsphere, YAML or INI, and \`vsphere.conf\` of the provider that was in Kubernetes. An
unknown key is logged with its line, and with the key that it may mean.

\`\`\`yaml
global:
  secretsDirectory: /etc/cloud/secrets
vcenter:
  main:
    server: vcenter.example
    datacenters: [dc1]
labels:
  zone: k8s-zone
  region: k8s-region
\`\`\`

\`\`\`ini
[Global]
secrets-directory = /etc/cloud/secrets
[VirtualCenter "vcenter.example"]
datacenters = dc1
[Labels]
zone = k8s-zone
region = k8s-region
\`\`\`

In INI a key has dashes (\`caFile\` is \`ca-file\`), lists have commas, \`vcenter\` is \`[VirtualCenter "<name>"]\`, and \`server\` may be left out
where the name is that.

`;

const IN_TREE = `
## Keys of the in-tree provider alone

`;

const MORE = `
## Environment

\`VSPHERE_SECRETS_DIRECTORY\`, \`VSPHERE_LABEL_ZONE\`, \`VSPHERE_LABEL_REGION\`, \`VSPHERE_NODES_{INTERNAL,EXTERNAL}_NETWORK_SUBNET_CIDR\` and
\`VSPHERE_NODES_{INTERNAL,EXTERNAL}_VM_NETWORK_NAME\` take precedence over the file. Other variables named \`VSPHERE_*\`, and \`SKIP_NODE_DELETION\`, are not
read; each is logged. \`ENABLE_ALPHA_DUAL_STACK\` is not needed: dual stack is on.

## Credentials

Those of mounted files take precedence over \`user\` and \`password\` of the file. A Secret is never read through the API of Kubernetes: with
\`secretName\` set, mount that Secret; the key may stay where it is. A \`user\` that is a certificate in PEM gets a SAML token from vCenter's security token
service, and \`password\` is its private key.
`;

export function configPage(): string {
  return `${HEAD}${configTable(yamlKeys)}${IN_TREE}${configTable(inTreeKeys)}${MORE}`;
}
