/** The paths that a text takes through the providers `aws` and `vsphere`: of tenants, nodes, machines and clouds. */
import type { NodeRef } from '@outrigger/cloud-provider';
import { soapFormat, xmlFormat } from '@outrigger/provider-kit';
import { parseImage } from '../../packages/image-credentials/src/image-registry.ts';
import { readRequest } from '../../packages/image-credentials/src/protocol.ts';
import { AnswerDecoder } from '../../providers/aws/src/client/decode-answer.ts';
import { errorIn } from '../../providers/aws/src/client/aws-errors.ts';
import { readAwsConfig } from '../../providers/aws/src/config/read-aws-config.ts';
import { addressInName, askedInstance } from '../../providers/aws/src/instances/asked-instance.ts';
import { aService } from '../../providers/aws/src/load-balancer/annotations/a-service.suite.ts';
import { annotationRows } from '../../providers/aws/src/load-balancer/annotations/annotation-rows.ts';
import {
  isServedElsewhere,
  settingsOf,
  targetLabelsOf,
} from '../../providers/aws/src/load-balancer/annotations/service-settings.ts';
import { ownerIn, tagsIn } from '../../providers/aws/src/load-balancer/ownership.ts';
import { assertionIn } from '../../providers/vsphere/src/client/saml-token.ts';
import { objectContents } from '../../providers/vsphere/src/client/soap.ts';
import { sessionCookie } from '../../providers/vsphere/src/client/vim-client.ts';
import { askedMachine } from '../../providers/vsphere/src/instances/asked-machine.ts';
import { nodeAddresses } from '../../providers/vsphere/src/instances/node-addresses.ts';
import { referenceIn, REFERENCE_ANNOTATION } from '../../providers/vsphere/src/instances/reference.ts';
import { staticAddresses } from '../../providers/vsphere/src/instances/static-addresses.ts';
import type { Target } from './target.ts';

const nodeOf = (more: Partial<NodeRef>): NodeRef => ({ name: 'n', uid: 'u', labels: {}, annotations: {}, ...more });

/** As the API of AWS is read: what the model does not have is passed over. */
const decoder = new AnswerDecoder({
  id: 'X',
  version: '1',
  protocol: 'ec2',
  endpoint: 'x',
  signing: 'x',
  requests: {},
  answers: { List: 'items:Items[Item next', Item: 'id when@ count# on? item:Inner=Item tags[' },
});
const asked = (text: string): unknown =>
  askedMachine(nodeOf({ name: text, providerID: text, systemUUID: text }), 'vsphere', () => []);
const rules = {
  families: ['ipv4', 'ipv6'],
  internalSubnets: [],
  externalSubnets: [],
  excludedInternalSubnets: [],
  excludedExternalSubnets: [],
  internalNetwork: 'a',
  externalNetwork: 'b',
} as const;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const xml = xmlFormat({ attributes: true });

/** From the annotation to what is asked of AWS. */
function bring(annotations: Readonly<Record<string, string>>): void {
  const service = aService({ annotations });
  isServedElsewhere(service);
  for (const type of ['nlb', 'clb'])
    settingsOf(aService({ set: { type }, annotations }), { healthProbe: undefined } as never);
  targetLabelsOf(service);
}

export const cloudTargets: readonly Target[] = [
  ...Object.values(annotationRows).map(({ name }) => ({
    name: `annotation ${name}`,
    run: (text: string): unknown => bring({ [name]: text }),
  })),
  {
    name: 'aws: annotations that are not known',
    run: (text) =>
      bring(
        Object.fromEntries(text.split(',').map((one) => [`service.beta.kubernetes.io/aws-load-balancer-${one}`, one])),
      ),
  },
  {
    name: 'aws: provider ID',
    run: (text) => [
      addressInName(text),
      askedInstance({ name: text, providerID: text }, 'aws'),
      askedInstance({ name: text, providerID: `aws:///${text}` }, 'aws'),
    ],
  },
  {
    name: 'aws: tags',
    run: (text) =>
      ownerIn(
        tagsIn([
          { Key: text, Value: text },
          { Key: 'outrigger.dev/cluster', Value: text },
        ]),
      ),
  },
  { name: 'aws: answer', run: (text) => decoder.decode('List', text) },
  {
    name: 'aws: text in an answer',
    run: (text) => decoder.decode('List', `<List><items><member><id>${text}</id></member></items></List>`),
  },
  { name: 'aws: error', run: errorIn },
  {
    name: 'aws: message of an error',
    run: (text) =>
      errorIn(`<Response><Errors><Error><Code>a</Code><Message>${text}</Message></Error></Errors></Response>`),
  },
  { name: 'aws: config', run: (text) => readAwsConfig({ fileName: 'f', text }, () => {}), scans: 30_000 },
  { name: 'vsphere: machine of a node', run: asked },
  {
    name: 'vsphere: provider ID',
    run: (text) => askedMachine(nodeOf({ providerID: `vsphere://${text}` }), 'vsphere', () => []),
  },
  {
    name: 'vsphere: reference of a node',
    run: (text) => referenceIn({ annotations: { [REFERENCE_ANNOTATION]: text } }),
  },
  {
    name: 'vsphere: what a guest reports',
    run: (text) =>
      nodeAddresses(
        {
          reference: 'vm-1',
          name: text,
          isTemplate: false,
          guestHostName: text,
          guestInfo: {},
          nics: text.split(',').map((one) => ({ network: one, deviceConfigId: 1, addresses: [one] })),
        },
        rules,
      ),
  },
  {
    name: 'vsphere: metadata of a guest',
    run: (text) => staticAddresses({ 'guestinfo.metadata': base64(text), 'guestinfo.metadata.encoding': 'base64' }),
    scans: 30_000,
  },
  { name: 'vsphere: answer', run: (text) => objectContents(xml.read(text)) },
  {
    name: 'vsphere: text in an answer',
    run: (text) => objectContents(soapFormat.read(`<a><returnval>${text}</returnval></a>`)),
  },
  { name: 'vsphere: cookies', run: sessionCookie },
  { name: 'vsphere: token', run: assertionIn },
  { name: 'image of a Pod', run: parseImage },
  { name: 'request of a kubelet', run: readRequest },
  {
    name: 'request of a kubelet, image',
    run: (image) => readRequest(JSON.stringify({ kind: 'CredentialProviderRequest', image })),
  },
];
