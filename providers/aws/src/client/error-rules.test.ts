import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effectOf, type CloudErrorCode, type CloudErrorShape } from '@outrigger/cloud-provider';
import { awsCodeOf } from './aws-errors.ts';
import { awsRig, ec2Error, queryError, type Scripted } from './aws-rig.suite.ts';

const CASES: readonly (readonly [answer: Scripted, means: CloudErrorCode, effect?: 'unknown'])[] = [
  [ec2Error('RequestLimitExceeded', 'slow', 503), 'throttled'],
  [queryError('Throttling', 'Rate exceeded'), 'throttled'],
  [queryError('ThrottlingException', 'Rate exceeded', 429), 'throttled'],
  [queryError('TooManyRequestsException'), 'throttled'],
  [ec2Error('InternalError', 'oops', 500), 'unavailable', 'unknown'],
  [ec2Error('Unavailable', 'oops', 503), 'unavailable', 'unknown'],
  [queryError('ServiceUnavailable', 'oops', 503), 'unavailable', 'unknown'],
  [queryError('RequestTimeout', 'late', 400), 'unavailable', 'unknown'],
  [{ status: 502, text: '<html>proxy</html>' }, 'unavailable', 'unknown'],
  [{ status: 403, text: '<html>proxy</html>' }, 'unavailable'],
  [ec2Error('InvalidInstanceID.NotFound'), 'not-found'],
  [ec2Error('InvalidGroup.NotFound'), 'not-found'],
  [ec2Error('InvalidRoute.NotFound'), 'not-found'],
  [queryError('LoadBalancerNotFound'), 'not-found'],
  [queryError('TargetGroupNotFound'), 'not-found'],
  [ec2Error('InvalidInstanceID.Malformed'), 'invalid'],
  [ec2Error('InvalidParameterValue'), 'invalid'],
  [queryError('ValidationError'), 'invalid'],
  [queryError('InvalidTarget'), 'invalid'],
  [ec2Error('InvalidPermission.Duplicate'), 'conflict'],
  [ec2Error('InvalidGroup.Duplicate'), 'conflict'],
  [ec2Error('RouteAlreadyExists'), 'conflict'],
  [queryError('DuplicateLoadBalancerName'), 'conflict'],
  [queryError('ResourceInUse'), 'conflict'],
  [ec2Error('DependencyViolation'), 'conflict'],
  [ec2Error('InvalidGroup.InUse'), 'conflict'],
  [ec2Error('IncorrectInstanceState'), 'conflict'],
  [queryError('OperationNotPermitted', 'deletion protection is enabled'), 'conflict'],
  [ec2Error('RulesPerSecurityGroupLimitExceeded'), 'quota'],
  [ec2Error('SecurityGroupLimitExceeded'), 'quota'],
  [ec2Error('RouteLimitExceeded'), 'quota'],
  [queryError('TooManyLoadBalancers'), 'quota'],
  [queryError('TooManyRegistrationsForTargetId'), 'quota'],
  [queryError('TargetGroupAssociationLimit'), 'quota'],
  [ec2Error('UnauthorizedOperation', 'no', 403), 'forbidden'],
  [queryError('AccessDenied', 'no', 403), 'forbidden'],
  [queryError('AccessDeniedException', 'no', 400), 'forbidden'],
  [ec2Error('AuthFailure', 'Not authorized for images', 403), 'forbidden'],
  [ec2Error('UnsupportedOperation'), 'unsupported'],
  [queryError('UnsupportedProtocol'), 'unsupported'],
  [ec2Error('OptInRequired', 'no', 403), 'forbidden'],
];

test('what the codes of both forms mean, and what is known of their effect', async () => {
  for (const [answer, means, effect = 'none'] of CASES) {
    // A bucket each: one that was throttled waits.
    await using rig = await awsRig(() => answer);
    const [, code] = /<Code>([^<]+)/u.exec(answer.text) ?? [];
    const error = await rig.client.ec2(rig.call, 'DeleteSecurityGroup', { GroupId: 'sg-1' }).then(
      () => assert.fail(`${code} is no error`),
      (thrown: unknown) => thrown as CloudErrorShape,
    );
    assert.deepEqual([error.code, effectOf(error), awsCodeOf(error)], [means, effect, code], code);
  }
});

test('codes that say that the credentials are not accepted', async () => {
  let answer: Scripted = { text: '' };
  await using rig = await awsRig(() => answer);
  for (const [code, status] of [
    ['AuthFailure', 401],
    ['InvalidClientTokenId', 403],
    ['SignatureDoesNotMatch', 403],
    ['ExpiredToken', 400],
    ['ExpiredTokenException', 400],
    ['UnrecognizedClientException', 400],
    ['RequestExpired', 400],
    ['MissingAuthenticationToken', 403],
  ] as const) {
    answer = queryError(code, 'no', status);
    await assert.rejects(rig.client.elb(rig.call, 'DescribeLoadBalancers', {}), { code: 'unauthenticated' }, code);
  }
});

test('an encoded authorisation message is left out, what it is about stays', async () => {
  const said =
    'You are not authorized to perform this operation. User: arn:aws:iam::1:user/x is not authorized to perform: ec2:CreateRoute';
  await using rig = await awsRig(() =>
    ec2Error('UnauthorizedOperation', `${said}. Encoded authorization failure message: ${'Qx9_-'.repeat(200)}`, 403),
  );
  await assert.rejects(rig.client.ec2(rig.call, 'CreateRoute', { RouteTableId: 'rtb-1' }), {
    code: 'forbidden',
    message: `AWS refused CreateRoute: ${said}. (403)`,
  });
});

test('an answer that is cut off, or none of AWS, is never an empty one', async () => {
  let text = '';
  await using rig = await awsRig(() => ({ text }));
  for (text of [
    '',
    '<html></html>',
    '<DescribeInstancesResponse><reservationSet><item>',
    '<DescribeInstancesResponse><reservationSet><item></DescribeInstancesResponse>',
    '<DescribeInstancesResponse><reservationSet><item><instancesSet><item><networkInterfaceSet><item><attachment><deviceIndex>x</deviceIndex></attachment></item></networkInterfaceSet></item></instancesSet></item></reservationSet></DescribeInstancesResponse>',
    '<!DOCTYPE x [<!ENTITY a "b">]><DescribeInstancesResponse></DescribeInstancesResponse>',
  ])
    await assert.rejects(rig.client.ec2(rig.call, 'DescribeInstances', {}), { code: 'unavailable' }, text);
});
