/** From the `auth` of `POST /v3/auth/tokens` to a token, or nothing: keystone does not say which part was wrong. */
import { DEFAULT_DOMAIN, type FakeProject, type FakeToken, type FakeUser, type Identity } from './identity.ts';

type Part = Readonly<Record<string, unknown>>;

const part = (value: unknown): Part => (typeof value === 'object' && value !== null ? (value as Part) : {});

export function authenticate(identity: Identity, auth: Part): FakeToken | undefined {
  const request = part(auth['identity']);
  const methods = Array.isArray(request['methods']) ? (request['methods'] as string[]) : [];
  switch (methods[0]) {
    case 'password': {
      const given = part(part(request['password'])['user']);
      const user = findUser(identity, given);
      if (!user || user.password !== given['password']) return undefined;
      return scoped(identity, user, auth, methods);
    }
    case 'token': {
      const former = identity.token(String(part(request['token'])['id']));
      return former && scoped(identity, former.user, auth, [...new Set([...former.methods, 'token'])]);
    }
    case 'application_credential':
      // Its project and roles are its own: a scope beside it is refused (keystone, auth plugin application_credential).
      return auth['scope'] === undefined ? byCredential(identity, part(request['application_credential'])) : undefined;
    default:
      return undefined;
  }
}

function byCredential(identity: Identity, given: Part): FakeToken | undefined {
  const owner = given['user'] === undefined ? undefined : findUser(identity, part(given['user']));
  const credential = [...identity.applicationCredentials.values()].find(
    ({ id, name, userId }) => id === given['id'] || (owner?.id === userId && name === given['name']),
  );
  if (!credential || credential.secret !== given['secret']) return undefined;
  const user = identity.users.get(credential.userId);
  const project = identity.projects.get(credential.projectId);
  return user && project && identity.issue(user, project, credential.roles, ['application_credential'], credential);
}

function scoped(identity: Identity, user: FakeUser, auth: Part, methods: readonly string[]): FakeToken | undefined {
  const scope = part(auth['scope']);
  const trustId = part(scope['OS-TRUST:trust'])['id'];
  if (typeof trustId === 'string') {
    const trust = identity.trusts.get(trustId);
    const project = trust && identity.projects.get(trust.projectId);
    return project && trust.trusteeUserId === user.id ? identity.issue(user, project, ['member'], methods) : undefined;
  }
  const project =
    auth['scope'] === undefined
      ? identity.projects.get(user.defaultProjectId)
      : findProject(identity, part(scope['project']));
  const roles = project ? identity.rolesOf(user.id, project.id) : [];
  return project && roles.length > 0 ? identity.issue(user, project, roles, methods) : undefined;
}

const isDefaultDomain = (value: unknown): boolean => {
  const { id, name } = part(value);
  return id === DEFAULT_DOMAIN.id || name === DEFAULT_DOMAIN.name;
};

function findUser(identity: Identity, given: Part): FakeUser | undefined {
  if (typeof given['id'] === 'string') return identity.users.get(given['id']);
  if (!isDefaultDomain(given['domain'])) return undefined;
  return [...identity.users.values()].find(({ name }) => name === given['name']);
}

function findProject(identity: Identity, given: Part): FakeProject | undefined {
  if (typeof given['id'] === 'string') return identity.projects.get(given['id']);
  if (!isDefaultDomain(given['domain'])) return undefined;
  return [...identity.projects.values()].find(({ name }) => name === given['name']);
}
