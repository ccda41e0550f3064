import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { isCloudError } from '@outrigger/cloud-provider';
import { hostWith } from '../group-commit/shared-object.suite.ts';
import { HttpClient } from './http-client.ts';
import type { SentHttp } from './http-transport.ts';
import { soapAnswer, SoapClient, soapEnvelope, soapError, soapFormat } from './soap.ts';

const read = (inner: string): unknown =>
  soapFormat.read(
    `<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="x"><s:Body>${inner}</s:Body></s:Envelope>`,
  );
const fault = (detail: string): unknown =>
  read(`<s:Fault><faultcode>s:Server</faultcode><faultstring>no &amp; never</faultstring>${detail}</s:Fault>`);

test('a request is the element of its method in its namespace; a text goes as it is', () => {
  const of = { '@type': 'Folder', '#text': 'group-1' };
  const written = soapFormat.write(soapEnvelope('Rename', { _this: of, newName: 'a<b', no: undefined }, 'urn:vim25'));
  assert.match(
    written,
    /<soapenv:Body><Rename xmlns="urn:vim25"><_this type="Folder">group-1<\/_this><newName>a&lt;b<\/newName><\/Rename><\/soapenv:Body>/u,
  );
  assert.equal(soapFormat.write('<signed/>'), '<signed/>');
});

test('an answer is that of its method alone', () => {
  const body = read('<RenameResponse xmlns="urn:vim25"><returnval>1</returnval></RenameResponse>');
  assert.deepEqual(soapAnswer(body, 'Rename'), { returnval: '1' });
  assert.equal(soapAnswer(body, 'Destroy'), undefined);
  assert.equal(soapAnswer('<html>', 'Rename'), undefined);
  assert.equal(soapError(body), undefined);
});

test('a fault by its type, by its element, by its code; with the texts of its detail', () => {
  const cases: [string, string, Record<string, string>][] = [
    [
      '<detail><ManagedObjectNotFoundFault xsi:type="v:NotFound"><obj type="VM">vm-1</obj><deep><a>1</a></deep></ManagedObjectNotFoundFault></detail>',
      'NotFound',
      { obj: 'vm-1' },
    ],
    ['<detail><InvalidLoginFault/></detail>', 'InvalidLogin', {}],
    ['<detail><Fault/></detail>', 'Server', {}],
    ['<detail>text alone</detail>', 'Server', {}],
    ['', 'Server', {}],
  ];
  for (const [given, code, detail] of cases) {
    assert.deepEqual(soapError(fault(given)), { code, message: 'no & never', detail }, given);
  }
});

test('a client asks with the action of the API, and takes the answer to what it asked alone', async () => {
  const sent: Partial<SentHttp>[] = [];
  const http = new HttpClient({
    host: { clock: new FakeClock(), redact: () => {} },
    cloud: 'Acme',
    root: 'https://acme.example',
    format: soapFormat,
    errorOf: soapError,
    fetch: async (url, { body, headers, method }) => {
      sent.push({ url, body: body ?? '', headers, method: method as 'POST' });
      const text = '<e:Envelope xmlns:e="x"><e:Body><ListResponse><a>1</a></ListResponse></e:Body></e:Envelope>';
      return {
        status: 200,
        headers: { get: (name) => (name === 'set-cookie' ? 'c=1' : null) },
        text: async () => text,
      };
    },
  });
  const soap = new SoapClient(http);
  const api = { path: '/sdk', namespace: 'urn:acme', action: 'urn:acme/1' } as const;
  const call = hostWith(new FakeClock()).callContext();
  const { answer, header } = await soap.request(call, api, 'List', { of: 'a' }, { headers: { cookie: 'c=0' } });
  assert.deepEqual([answer, header('set-cookie')], [{ a: '1' }, 'c=1']);
  assert.deepEqual(
    [sent[0]?.url, sent[0]?.headers?.['soapaction'], sent[0]?.headers?.['cookie']],
    ['https://acme.example/sdk', 'urn:acme/1', 'c=0'],
  );
  assert.match(sent[0]?.body ?? '', /<List xmlns="urn:acme"><of>a<\/of><\/List>/u);
  await assert.rejects(soap.request(call, api, 'Rename', {}), (error) => isCloudError(error, 'unavailable'));
  await soap.send(call, api, 'List', '<signed/>');
  assert.equal(sent[2]?.body, '<signed/>');
});
