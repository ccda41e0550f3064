import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effectOf, isCloudError } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { openedHost } from '../opened-host.suite.ts';
import { HttpClient } from './http-client.ts';
import { isHttpError } from './refusal.ts';
import { xmlError, xmlFormat } from './xml-format.ts';

test('XML is read with texts as texts, lists as lists, and written', () => {
  const format = xmlFormat({ lists: ['R.set.item', 'member'] });
  const read = (inner: string): unknown =>
    format.read(`<?xml version="1.0"?><x:R xmlns:x="urn:x" a="1">${inner}</x:R>`);
  assert.deepEqual(read('<id>007</id><on>true</on><none/><t> a &lt; b </t>'), {
    R: { id: '007', on: 'true', none: '', t: 'a < b' },
  });
  assert.deepEqual(read('<set><item><a>1</a></item></set><item>1</item>'), {
    R: { set: { item: [{ a: '1' }] }, item: '1' },
  });
  assert.deepEqual(read('<set><member>1</member></set>'), { R: { set: { member: ['1'] } } });
  assert.deepEqual(read('<n>1</n><n>2</n>'), { R: { n: ['1', '2'] } });
  assert.equal(format.write({ R: { a: ['1', '2'], b: 'x<y', c: '' } }), '<R><a>1</a><a>2</a><b>x&lt;y</b><c/></R>');
});

test('characters by number are read; attributes are kept where they are asked for, without their prefixes', () => {
  assert.deepEqual(xmlFormat().read('<a b="1">&#34;x&#x41;&quot;&#xA;y</a>'), { a: '"xA"\ny' });
  const format = xmlFormat({ attributes: true });
  assert.deepEqual(format.read('<a xmlns="urn:a" x:type="b:c" xmlns:x="urn:x">1<b/><c type="d&#34;">007</c></a>'), {
    a: { '#text': '1', '@type': 'b:c', b: '', c: { '#text': '007', '@type': 'd"' } },
  });
  assert.equal(
    format.write({ a: { '@x:type': 'b"', c: [{ '@type': 't', '#text': 'v<' }, 2], d: undefined } }),
    '<a x:type="b&quot;"><c type="t">v&lt;</c><c>2</c></a>',
  );
});

test('what is no XML, cut off, or defines text of its own is not read', () => {
  const format = xmlFormat();
  for (const text of ['oops', '{"a":1}', '<a><b></a>', '<a><b>1</b>', '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>']) {
    assert.throws(() => format.read(text), SyntaxError, text);
  }
});

test('a form has its lists numbered', () => {
  const body = { Action: 'Describe', Filter: [{ Name: 'a b', Value: ['c', 2] }], DryRun: false, None: undefined };
  assert.equal(
    xmlFormat({ sends: 'form' }).write(body),
    'Action=Describe&Filter.1.Name=a+b&Filter.1.Value.1=c&Filter.1.Value.2=2&DryRun=false',
  );
  assert.equal(xmlFormat({ sends: 'form', itemName: 'member' }).write({ Names: ['a'] }), 'Names.member.1=a');
});

test('a client sends forms and reads XML; errors are by their code; a page of a proxy is no answer of the cloud', async () => {
  await using opened = await openedHost(new FakeClock());
  let answer = { status: 200, text: '<R><id>1</id></R>' };
  const sent: (string | null | undefined)[] = [];
  const client = new HttpClient({
    host: opened.host,
    cloud: 'Acme',
    root: 'https://acme.example',
    format: xmlFormat({ sends: 'form' }),
    errorOf: xmlError,
    errors: [{ code: 'InvalidInstanceID.NotFound', means: 'not-found' }],
    fetch: async (_url, { body, headers }) => {
      sent.push(headers['content-type'], headers['accept'], body);
      return { status: answer.status, headers: { get: () => null }, text: async () => answer.text };
    },
  });
  const ask = () => client.request(opened.host.callContext(), 'POST /', { body: { Action: 'Get' } });
  assert.deepEqual(await ask(), { R: { id: '1' } });
  assert.deepEqual(sent, ['application/x-www-form-urlencoded', 'application/xml', 'Action=Get']);
  const wrong = async (status: number, text: string): Promise<unknown> => {
    answer = { status, text };
    return await ask().catch((error: unknown) => error);
  };
  const inner = '<Error><Code>InvalidInstanceID.NotFound</Code><Message>no i-1</Message></Error>';
  const forms = [
    inner,
    `<ErrorResponse>${inner}</ErrorResponse>`,
    `<Response><Errors>${inner}${inner}</Errors></Response>`,
  ];
  for (const text of forms) {
    const error = await wrong(400, text);
    assert.ok(isCloudError(error, 'not-found') && isHttpError(error, 400, 'InvalidInstanceID.NotFound'));
    assert.match(error.message, /no i-1 \(400\)/);
  }
  assert.ok(isCloudError(await wrong(404, '<html><body>proxy</body></html>'), 'unavailable'));
  const cut = await wrong(200, '<R><id>1</id>');
  assert.ok(isCloudError(cut, 'unavailable') && effectOf(cut) === 'unknown');
});
