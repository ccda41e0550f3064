/** REST-XML: excerpts of the models of S3 (bare errors, flattened lists, constants in the query) and Route 53 (lists with names, envelopes). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { xmlError, xmlFormat } from '../http/xml-format.ts';
import { ask } from './asked.suite.ts';
import type { FakeCloud } from './fake-cloud.ts';
import type { FakeBehaviour } from './fake-model.ts';
import { FakeRefusal } from './fake-error.ts';
import { fakeCloud } from './start-fake-cloud.ts';

const of = (shape: string, more: object = {}) => ({ shape, ...more });
const uri = (locationName: string) => ({ location: 'uri', locationName });
const bucket = of('Name', uri('Bucket'));

const s3 = {
  metadata: { protocol: 'rest-xml', endpointPrefix: 's3', apiVersion: '2006-03-01' },
  operations: {
    // Before the one with a constant, as in the model.
    CreateBucket: {
      name: 'CreateBucket',
      http: { method: 'PUT', requestUri: '/{Bucket}' },
      input: of('CreateBucketRequest'),
      output: of('CreateBucketOutput'),
    },
    PutBucketTagging: {
      name: 'PutBucketTagging',
      http: { method: 'PUT', requestUri: '/{Bucket}?tagging', responseCode: 204 },
      input: of('PutBucketTaggingRequest'),
    },
    ListObjectsV2: {
      name: 'ListObjectsV2',
      http: { method: 'GET', requestUri: '/{Bucket}?list-type=2' },
      input: of('ListObjectsV2Request'),
      output: of('ListObjectsV2Output'),
    },
    // At the place of PutObject: a header tells them apart.
    CopyObject: {
      name: 'CopyObject',
      http: { method: 'PUT', requestUri: '/{Bucket}/{Key+}' },
      input: of('CopyObjectRequest'),
    },
    PutObject: {
      name: 'PutObject',
      http: { method: 'PUT', requestUri: '/{Bucket}/{Key+}' },
      input: of('PutObjectRequest'),
      output: of('PutObjectOutput'),
    },
  },
  shapes: {
    CreateBucketRequest: {
      type: 'structure',
      required: ['Bucket'],
      members: {
        Bucket: bucket,
        CreateBucketConfiguration: of('CreateBucketConfiguration', { locationName: 'CreateBucketConfiguration' }),
      },
      payload: 'CreateBucketConfiguration',
    },
    CreateBucketConfiguration: { type: 'structure', members: { LocationConstraint: of('Region') } },
    Region: { type: 'string', enum: ['eu-west-1', 'us-west-2'] },
    CreateBucketOutput: {
      type: 'structure',
      members: { Location: of('Name', { location: 'header', locationName: 'Location' }) },
    },
    PutBucketTaggingRequest: {
      type: 'structure',
      required: ['Bucket', 'Tagging'],
      members: { Bucket: bucket, Tagging: of('Tagging', { locationName: 'Tagging' }) },
      payload: 'Tagging',
    },
    Tagging: { type: 'structure', required: ['TagSet'], members: { TagSet: of('TagSet') } },
    TagSet: { type: 'list', member: of('Tag', { locationName: 'Tag' }) },
    Tag: { type: 'structure', required: ['Key', 'Value'], members: { Key: of('Name'), Value: of('Name') } },
    ListObjectsV2Request: {
      type: 'structure',
      members: {
        Bucket: bucket,
        MaxKeys: of('Integer', { location: 'querystring', locationName: 'max-keys' }),
        Prefix: of('Name', { location: 'querystring', locationName: 'prefix' }),
      },
    },
    ListObjectsV2Output: {
      type: 'structure',
      members: { IsTruncated: of('Boolean'), Contents: of('ObjectList'), KeyCount: of('Integer') },
    },
    ObjectList: { type: 'list', member: of('Object'), flattened: true },
    Object: { type: 'structure', members: { Key: of('Name'), Size: of('Integer') } },
    CopyObjectRequest: {
      type: 'structure',
      required: ['Bucket', 'CopySource', 'Key'],
      members: {
        Bucket: bucket,
        Key: of('Name', uri('Key')),
        CopySource: of('Name', { location: 'header', locationName: 'x-amz-copy-source' }),
      },
    },
    PutObjectRequest: {
      type: 'structure',
      members: {
        Bucket: bucket,
        Key: of('Name', uri('Key')),
        Body: of('Blob'),
        Metadata: of('Metadata', { location: 'headers', locationName: 'x-amz-meta-' }),
      },
      payload: 'Body',
    },
    PutObjectOutput: {
      type: 'structure',
      members: { ETag: of('Name', { location: 'header', locationName: 'ETag' }) },
    },
    Metadata: { type: 'map', key: of('Name'), value: of('Name') },
    Blob: { type: 'blob' },
    Name: { type: 'string' },
    Integer: { type: 'integer' },
    Boolean: { type: 'boolean' },
  },
};

const route53 = {
  metadata: { protocol: 'rest-xml', endpointPrefix: 'route53', apiVersion: '2013-04-01' },
  operations: {
    ChangeResourceRecordSets: {
      name: 'ChangeResourceRecordSets',
      http: { method: 'POST', requestUri: '/2013-04-01/hostedzone/{Id}/rrset/' },
      input: of('ChangeRequest', { locationName: 'ChangeResourceRecordSetsRequest' }),
      output: of('ChangeResponse'),
    },
  },
  shapes: {
    ChangeRequest: {
      type: 'structure',
      required: ['HostedZoneId', 'ChangeBatch'],
      members: { HostedZoneId: of('Name', uri('Id')), ChangeBatch: of('ChangeBatch') },
    },
    ChangeBatch: { type: 'structure', required: ['Changes'], members: { Changes: of('Changes') } },
    Changes: { type: 'list', member: of('Change', { locationName: 'Change' }), min: 1 },
    Change: { type: 'structure', members: { Action: of('Action'), Names: of('Names'), TTL: of('Long') } },
    Action: { type: 'string', enum: ['CREATE', 'DELETE', 'UPSERT'] },
    Names: { type: 'list', member: of('Name') },
    ChangeResponse: { type: 'structure', members: { ChangeInfo: of('ChangeInfo') } },
    ChangeInfo: { type: 'structure', members: { Id: of('Name'), SubmittedAt: of('Time') } },
    Name: { type: 'string' },
    Long: { type: 'long', max: 86_400 },
    Time: { type: 'timestamp' },
  },
};

function aws(botocore: object, behaviours: Readonly<Record<string, FakeBehaviour>>): FakeCloud {
  return fakeCloud({
    clock: new FakeClock(),
    botocore: botocore as Readonly<Record<string, unknown>>,
    table: { resources: {}, errors: { reasons: { invalid: { code: 'InvalidRequest' } } } },
    behaviours,
  });
}

const read = (body: unknown): unknown => xmlFormat().read(String(body));

test('S3: an operation by its constant in the query, members in path, query, headers and body', async () => {
  const seen: unknown[] = [];
  const sees =
    (body?: object): FakeBehaviour =>
    ({ input }) => {
      seen.push(input.body);
      return body === undefined ? {} : { body };
    };
  const cloud = aws(s3, {
    CreateBucket: sees({ Location: '/logs' }),
    PutBucketTagging: sees(),
    ListObjectsV2: sees({
      IsTruncated: false,
      KeyCount: 2,
      Contents: [
        { Key: 'a<b', Size: 1 },
        { Key: 'c', Size: 2 },
      ],
    }),
    CopyObject: sees(),
    PutObject: sees({ ETag: '"1"' }),
  });
  const region =
    '<CreateBucketConfiguration xmlns="http://s3.example/doc"><LocationConstraint>eu-west-1</LocationConstraint></CreateBucketConfiguration>';
  const made = await ask(cloud, 'PUT /logs', region);
  assert.deepEqual([made.status, made.headers['location'], made.body], [200, '/logs', undefined]);
  assert.deepEqual(seen.pop(), { Bucket: 'logs', CreateBucketConfiguration: { LocationConstraint: 'eu-west-1' } });
  await ask(cloud, 'PUT /logs');
  assert.deepEqual(seen.pop(), { Bucket: 'logs' }, 'the payload is optional');

  const tags = '<Tagging><TagSet><Tag><Key>k</Key><Value>0012</Value></Tag></TagSet></Tagging>';
  assert.equal((await ask(cloud, 'PUT /logs?tagging', tags)).status, 204);
  assert.deepEqual(seen.pop(), { Bucket: 'logs', Tagging: { TagSet: [{ Key: 'k', Value: '0012' }] } });

  const listed = await ask(cloud, 'GET /logs?list-type=2&max-keys=2&x-id=ListObjectsV2');
  assert.deepEqual(seen.pop(), { Bucket: 'logs', MaxKeys: 2 });
  assert.equal(listed.headers['content-type'], 'application/xml');
  assert.equal(
    listed.body,
    '<ListObjectsV2Output><IsTruncated>false</IsTruncated><Contents><Key>a&lt;b</Key><Size>1</Size></Contents>' +
      '<Contents><Key>c</Key><Size>2</Size></Contents><KeyCount>2</KeyCount></ListObjectsV2Output>',
  );

  const put = await ask(cloud, 'PUT /logs/a/b.txt', '<not xml', { 'x-amz-meta-owner': 'me' });
  assert.deepEqual([put.headers['etag'], put.body], ['"1"', undefined]);
  assert.deepEqual(seen.pop(), { Bucket: 'logs', Key: 'a/b.txt', Body: '<not xml', Metadata: { owner: 'me' } });
  await ask(cloud, 'PUT /logs/b.txt', undefined, { 'x-amz-copy-source': 'logs/a/b.txt' });
  assert.deepEqual(seen.pop(), { Bucket: 'logs', Key: 'b.txt', CopySource: 'logs/a/b.txt' });
  assert.deepEqual(cloud.calls.takeProblems(), []);
});

test('S3: what the shapes do not have is refused, in answers too, and errors are bare', async () => {
  const cloud = aws(s3, {
    PutBucketTagging: () => ({}),
    ListObjectsV2: () => ({ body: { Contents: [{ key: 'a' }] } }),
  });
  for (const [line, body, problem] of [
    ['PUT /logs?tagging', '', /input: Tagging is missing/],
    ['PUT /logs?tagging', '<Tags/>', /input\.Tagging: Tags is not known/],
    ['PUT /logs?tagging', '<Tagging><TagSet><Item/></TagSet></Tagging>', /input\.Tagging\.TagSet: must be array/],
    ['PUT /logs?tagging', '<Tagging><TagSet/><Tag/></Tagging>', /input\.Tagging: Tag is not known/],
    ['PUT /logs?tagging', '<Tagging><TagSet>', /body: /],
    ['GET /logs?list-type=2&max=2', undefined, /input: max is not known/],
    ['GET /logs?list-type=2&max-keys=many', undefined, /input\.MaxKeys: must be integer/],
    ['GET /logs?list-type=2', undefined, /answer: output\.Contents\[0\]: key is not known/],
    ['GET /logs', undefined, /there is no such path/],
  ] as const) {
    await ask(cloud, line, body);
    assert.match(cloud.calls.takeProblems().join(), problem, line);
  }
  const { body, status } = await ask(cloud, 'PUT /logs?tagging');
  assert.deepEqual([status, Object.keys(read(body) as object)], [400, ['Error']]);
  assert.equal(xmlError(read(body))?.code, 'InvalidRequest');
  cloud.calls.takeProblems();
});

test('Route 53: the body is named by the operation, lists by their items, and errors have an envelope', async () => {
  let seen: unknown;
  const cloud = aws(route53, {
    ChangeResourceRecordSets: ({ input }) => {
      seen = input.body;
      if (JSON.stringify(seen).includes('DELETE')) throw new FakeRefusal('not-found', 'no zone', 'NoSuchHostedZone');
      return { body: { ChangeInfo: { Id: '/change/C1', SubmittedAt: 0 } } };
    },
  });
  const change = (action: string): string =>
    `<ChangeResourceRecordSetsRequest xmlns="https://route53.example/doc/"><ChangeBatch><Changes><Change><Action>${action}</Action>` +
    '<Names><member>a</member><member>b</member></Names><TTL>60</TTL></Change></Changes></ChangeBatch></ChangeResourceRecordSetsRequest>';
  const path = 'POST /2013-04-01/hostedzone/Z1/rrset/';
  const { body } = await ask(cloud, path, change('CREATE'));
  assert.deepEqual(seen, {
    HostedZoneId: 'Z1',
    ChangeBatch: { Changes: [{ Action: 'CREATE', Names: ['a', 'b'], TTL: 60 }] },
  });
  assert.deepEqual(read(body), {
    ChangeResponse: { ChangeInfo: { Id: '/change/C1', SubmittedAt: '1970-01-01T00:00:00.000Z' } },
  });
  const lost = await ask(cloud, path, change('DELETE'));
  assert.equal(lost.status, 404);
  assert.deepEqual(xmlError(read(lost.body)), { code: 'NoSuchHostedZone', message: 'no zone' });
  assert.deepEqual(Object.keys(read(lost.body) as object), ['ErrorResponse']);
  assert.deepEqual(cloud.calls.takeProblems(), []);
  await ask(cloud, path, change('REMOVE'));
  assert.match(cloud.calls.takeProblems().join(), /Changes\[0\]\.Action: must be one of CREATE, DELETE, UPSERT/);
});
