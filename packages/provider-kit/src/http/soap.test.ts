import assert from 'node:assert/strict';
import { test } from 'node:test';
import { soapAnswer, soapEnvelope, soapError, soapFormat } from './soap.ts';

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
