import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { xmlError, xmlFormat } from '../http/xml-format.ts';
import { ask } from './asked.suite.ts';
import { FakeRefusal } from './fake-error.ts';
import type { FakeCloud } from './fake-cloud.ts';
import type { FakeBehaviour } from './fake-model.ts';
import type { FakeResource, FakeThing } from './fake-table.ts';
import { fakeCloud } from './start-fake-cloud.ts';

const string = { type: 'string' };
const inUri = { location: 'uri', locationName: 'name' };
const http = { method: 'POST', requestUri: '/' };
const of = (shape: string, more: object = {}) => ({ shape, ...more });

/** As EC2 describes itself: lists are numbered without a name between, names in forms begin with a capital. */
const ec2 = {
  metadata: { protocol: 'ec2', apiVersion: '2016-11-15', xmlNamespace: 'http://ec2.example/doc' },
  operations: {
    DescribeInstances: {
      name: 'DescribeInstances',
      http,
      input: of('DescribeInstancesRequest'),
      output: of('DescribeInstancesResult'),
    },
  },
  shapes: {
    DescribeInstancesRequest: {
      type: 'structure',
      members: {
        InstanceIds: of('InstanceIds', { locationName: 'InstanceId' }),
        Filters: of('Filters', { locationName: 'Filter' }),
        DryRun: of('Boolean', { locationName: 'dryRun' }),
        MaxResults: of('Integer', { locationName: 'maxResults' }),
      },
    },
    DescribeInstancesResult: {
      type: 'structure',
      members: {
        Instances: of('Instances', { locationName: 'instancesSet' }),
        NextToken: of('String', { locationName: 'nextToken' }),
      },
    },
    InstanceIds: { type: 'list', member: of('String', { locationName: 'InstanceId' }) },
    Filters: { type: 'list', member: of('Filter', { locationName: 'Filter' }) },
    Filter: { type: 'structure', members: { Name: of('String'), Values: of('Values', { locationName: 'Value' }) } },
    Values: { type: 'list', member: of('String', { locationName: 'item' }) },
    Instances: { type: 'list', member: of('Instance', { locationName: 'item' }) },
    Instance: {
      type: 'structure',
      members: {
        InstanceId: of('String', { locationName: 'instanceId' }),
        State: of('State', { locationName: 'instanceState' }),
        Tags: of('Tags', { locationName: 'tagSet' }),
        Monitored: of('Boolean', { locationName: 'monitored' }),
        LaunchTime: of('Time', { locationName: 'launchTime' }),
      },
    },
    State: { type: 'string', enum: ['running', 'stopped'] },
    Tags: { type: 'list', member: of('Tag', { locationName: 'item' }) },
    Tag: {
      type: 'structure',
      members: { Key: of('String', { locationName: 'key' }), Value: of('String', { locationName: 'value' }) },
    },
    String: string,
    Boolean: { type: 'boolean' },
    Integer: { type: 'integer', min: 5, max: 1000 },
    Time: { type: 'timestamp' },
  },
};

/** As the load balancers describe themselves: `member` between a list and its numbers, results in a wrapper. */
const query = {
  metadata: { protocol: 'query', apiVersion: '2015-12-01' },
  operations: {
    CreateLoadBalancer: {
      name: 'CreateLoadBalancer',
      http,
      input: of('CreateInput'),
      output: { ...of('CreateOutput'), resultWrapper: 'CreateLoadBalancerResult' },
    },
  },
  shapes: {
    CreateInput: {
      type: 'structure',
      required: ['Name'],
      members: { Name: of('Name'), Subnets: of('Subnets'), Flat: of('Flat'), Attributes: of('Attributes') },
    },
    CreateOutput: { type: 'structure', members: { LoadBalancers: of('LoadBalancers') } },
    LoadBalancers: { type: 'list', member: of('LoadBalancer') },
    LoadBalancer: {
      type: 'structure',
      members: { Name: of('Name'), Subnets: of('Subnets'), Attributes: of('Attributes') },
    },
    Subnets: { type: 'list', member: of('Name'), max: 2 },
    Flat: { type: 'list', member: of('Name', { locationName: 'F' }), flattened: true },
    Attributes: { type: 'map', key: of('Name'), value: of('Name') },
    Name: { type: 'string', pattern: '[a-z0-9-]+', max: 8 },
  },
};

const DESCRIBE = 'Action=DescribeInstances&Version=2016-11-15';
const CREATE = 'Action=CreateLoadBalancer&Version=2015-12-01';

function aws(
  botocore: object,
  behaviours: Readonly<Record<string, FakeBehaviour>>,
  resources: Readonly<Record<string, FakeResource>> = {},
): FakeCloud {
  return fakeCloud({
    clock: new FakeClock(),
    botocore: botocore as Readonly<Record<string, unknown>>,
    table: { resources, errors: { reasons: { invalid: { code: 'ValidationError' }, 'not-found': { status: 400 } } } },
    behaviours,
  });
}

const describe: FakeBehaviour = ({ account, input }) => {
  const { InstanceIds: ids } = input.body as { readonly InstanceIds?: readonly string[] };
  const instances = account.resource('instances');
  const lost = ids?.find((id) => !instances.get(id));
  if (lost !== undefined) throw new FakeRefusal('not-found', `no ${lost}`, 'InvalidInstanceID.NotFound');
  return {
    body: { Instances: instances.list().filter(({ InstanceId }) => ids?.includes(String(InstanceId)) ?? true) },
    list: 'Instances',
  };
};

test('EC2: forms are read into the names of an SDK, and answers are XML', async () => {
  let seen: unknown;
  const behaviour: FakeBehaviour = (context) => {
    seen = context.input.body;
    return describe(context);
  };
  const cloud = aws(ec2, { DescribeInstances: behaviour }, { instances: { idMember: 'InstanceId' } });
  const instances = cloud.resource('instances');
  instances.put({
    InstanceId: 'i-1',
    State: 'running',
    Tags: [{ Key: 'a', Value: 'x<y' }],
    Monitored: false,
    LaunchTime: 0,
  });
  const form = `${DESCRIBE}&InstanceId.1=i-1&Filter.1.Name=vpc&Filter.1.Value.1=a&Filter.1.Value.2=b&DryRun=false&MaxResults=5`;
  const { body, status } = await ask(cloud, 'POST /', form);
  assert.deepEqual(seen, {
    InstanceIds: ['i-1'],
    Filters: [{ Name: 'vpc', Values: ['a', 'b'] }],
    DryRun: false,
    MaxResults: 5,
  });
  assert.equal(status, 200);
  assert.match(String(body), /^<DescribeInstancesResponse xmlns="http:\/\/ec2\.example\/doc"><requestId>/);
  assert.deepEqual(xmlFormat({ lists: ['item'] }).read(String(body)), {
    DescribeInstancesResponse: {
      requestId: 'fake-request',
      instancesSet: {
        item: [
          {
            instanceId: 'i-1',
            instanceState: 'running',
            tagSet: { item: [{ key: 'a', value: 'x<y' }] },
            monitored: 'false',
            launchTime: '1970-01-01T00:00:00.000Z',
          },
        ],
      },
    },
  });
  const lost = await ask(cloud, 'POST /', `${DESCRIBE}&InstanceId.1=i-2`);
  assert.deepEqual(
    [lost.status, xmlError(xmlFormat().read(String(lost.body)))],
    [400, { code: 'InvalidInstanceID.NotFound', message: 'no i-2' }],
  );
  assert.deepEqual(cloud.calls.takeProblems(), []);
  cloud.faults.set(
    { operation: 'DescribeInstances', status: 503, code: 'RequestLimitExceeded', times: 1 },
    { spoils: 'empty-list' },
  );
  assert.equal(
    xmlError(xmlFormat().read(String((await ask(cloud, 'POST /', DESCRIBE)).body)))?.code,
    'RequestLimitExceeded',
  );
  assert.doesNotMatch(String((await ask(cloud, 'POST /', DESCRIBE)).body), /i-1/);
});

test('EC2: what the shapes do not have is refused, in answers too', async () => {
  const cloud = aws(ec2, { DescribeInstances: () => ({ body: { Instances: [{ State: 'gone' }] } }) });
  const cases: readonly (readonly [form: string, problem: RegExp])[] = [
    [`${DESCRIBE}&InstanceID.1=i-1`, /input: InstanceID is not known/],
    [`${DESCRIBE}&Filter.1.Values.1=a`, /input\.Filters\[0\]: Values \(as sent\) is not known/],
    [`${DESCRIBE}&MaxResults=4`, /input\.MaxResults: must be >= 5, not 4/],
    [`${DESCRIBE}&DryRun=maybe`, /input\.DryRun: must be boolean/],
    ['Action=DescribeInstances&Version=2010-01-01', /Version must be 2016-11-15/],
    ['Action=DescribeInstance&Version=2016-11-15', /there is no such path/],
    [DESCRIBE, /answer: output\.Instances\[0\]\.State: must be one of running, stopped/],
  ];
  for (const [form, problem] of cases) {
    await ask(cloud, 'POST /', form);
    assert.match(cloud.calls.takeProblems().join(), problem, form);
  }
});

test('the query protocol: lists with `member`, maps, results in their wrapper', async () => {
  let seen: unknown;
  const cloud = aws(query, {
    CreateLoadBalancer: ({ input }) => {
      seen = input.body;
      const { Flat: _, ...balancer } = input.body as FakeThing;
      return { body: { LoadBalancers: [balancer] } };
    },
  });
  const form = `${CREATE}&Name=lb&Subnets.member.1=a&Subnets.member.2=b&F.1=x&Attributes.entry.1.key=k&Attributes.entry.1.value=v`;
  const { body } = await ask(cloud, 'POST /', form);
  assert.deepEqual(seen, { Name: 'lb', Subnets: ['a', 'b'], Flat: ['x'], Attributes: { k: 'v' } });
  assert.deepEqual(xmlFormat({ lists: ['member', 'entry'] }).read(String(body)), {
    CreateLoadBalancerResponse: {
      CreateLoadBalancerResult: {
        LoadBalancers: {
          member: [{ Name: 'lb', Subnets: { member: ['a', 'b'] }, Attributes: { entry: [{ key: 'k', value: 'v' }] } }],
        },
      },
      ResponseMetadata: { RequestId: 'fake-request' },
    },
  });
  for (const [more, problem] of [
    ['', /input: Name is missing/],
    ['&Name=LB', /input\.Name: must match pattern/],
    [
      '&Name=lb&Subnets.member.1=a&Subnets.member.2=b&Subnets.member.3=c',
      /input\.Subnets: must NOT have more than 2 items/,
    ],
  ] as const) {
    const refused = await ask(cloud, 'POST /', CREATE + more);
    assert.equal(xmlError(xmlFormat().read(String(refused.body)))?.code, 'ValidationError');
    assert.match(cloud.calls.takeProblems().join(), problem);
  }
});

test('JSON by target, and REST with members in path, query and headers', async () => {
  const shapes = {
    Request: {
      type: 'structure',
      required: ['name'],
      members: {
        name: of('Name', inUri),
        limit: of('Limit', { location: 'querystring', locationName: 'maxResults' }),
        token: of('Name', { location: 'header', locationName: 'X-Token' }),
        tags: of('Tags'),
      },
    },
    Answer: { type: 'structure', members: { cluster: of('Name') } },
    Name: string,
    Limit: { type: 'integer', max: 100 },
    Tags: { type: 'map', key: of('Name'), value: of('Name') },
  };
  const operation = { name: 'UpdateCluster', input: of('Request'), output: of('Answer') };
  const seen: unknown[] = [];
  const behaviours: Record<string, FakeBehaviour> = {
    UpdateCluster: ({ input }) => {
      seen.push(input.body);
      return { body: { cluster: 'c' } };
    },
  };
  const rest = aws(
    {
      metadata: { protocol: 'rest-json' },
      operations: { UpdateCluster: { ...operation, http: { method: 'POST', requestUri: '/clusters/{name}/update' } } },
      shapes,
    },
    behaviours,
  );
  const answer = await ask(rest, 'POST /clusters/c/update?maxResults=5', { tags: { a: 'b' } }, { 'x-token': 't' });
  assert.deepEqual(
    [answer.body, seen.pop()],
    [{ cluster: 'c' }, { name: 'c', limit: 5, token: 't', tags: { a: 'b' } }],
  );
  const wrong = await ask(rest, 'POST /clusters/c/update?max=5', { tag: {} });
  assert.deepEqual([wrong.status, wrong.headers['x-amzn-errortype']], [400, 'ValidationError']);
  assert.match(
    rest.calls.takeProblems().join(),
    /tag is not known.*max is not known|max is not known.*tag is not known/,
  );

  const json = aws(
    {
      metadata: { protocol: 'json', targetPrefix: 'Ecr_1', jsonVersion: '1.1' },
      operations: { UpdateCluster: { ...operation, http } },
      shapes,
    },
    behaviours,
  );
  const headers = { 'x-amz-target': 'Ecr_1.UpdateCluster' };
  const done = await ask(json, 'POST /', { name: 'c', limit: 5 }, headers);
  assert.deepEqual(
    [done.body, done.headers['content-type'], seen.pop()],
    [{ cluster: 'c' }, 'application/x-amz-json-1.1', { name: 'c', limit: 5 }],
  );
  assert.deepEqual(json.calls.takeProblems(), []);
  const refused = await ask(json, 'POST /', { name: 'c', limit: 101 }, headers);
  assert.equal((refused.body as { readonly __type?: string }).__type, 'ValidationError');
  json.calls.takeProblems();
  assert.throws(() => aws({ ...query, metadata: { protocol: 'smithy' } }, {}), /smithy is not spoken/);
  assert.throws(() => aws({}, {}), /no service model of botocore/);
});
