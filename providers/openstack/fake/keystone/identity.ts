/** Who may enter: users, application credentials, trusts, and the tokens that were given out. */
import type { Clock } from '@outrigger/cloud-provider';
import type { Caller } from '../fake-http.ts';
import type { Identifiers } from '../identifiers.ts';

export interface FakeUser {
  readonly id: string;
  readonly name: string;
  /** Where a token without a scope leads. */
  readonly defaultProjectId: string;
  password: string;
}

export interface FakeProject {
  readonly id: string;
  readonly name: string;
}

export interface FakeToken {
  readonly id: string;
  readonly user: FakeUser;
  readonly project: FakeProject;
  readonly roles: readonly string[];
  readonly methods: readonly string[];
  readonly credential?: FakeApplicationCredential;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export interface FakeApplicationCredential {
  readonly id: string;
  readonly name: string;
  readonly secret: string;
  readonly userId: string;
  readonly projectId: string;
  readonly roles: readonly string[];
}

/** The user's own domain and the project's: the lab has this one only. */
export const DEFAULT_DOMAIN = { id: 'default', name: 'Default' } as const;

const HOUR_MS = 3_600_000;

export class Identity {
  /** Of a new token, in milliseconds. Default: an hour, as keystone's. */
  tokenLifetimeMs: number = HOUR_MS;
  readonly users: Map<string, FakeUser> = new Map();
  readonly projects: Map<string, FakeProject> = new Map();
  readonly applicationCredentials: Map<string, FakeApplicationCredential> = new Map();
  /** From a trust's ID to its trustor's project. */
  readonly trusts: Map<string, { readonly trusteeUserId: string; readonly projectId: string }> = new Map();
  /** `<user ID> <project ID>` to roles. */
  readonly #roles = new Map<string, readonly string[]>();
  readonly #tokens = new Map<string, FakeToken>();
  readonly #clock: Clock;
  readonly #ids: Identifiers;

  constructor(clock: Clock, ids: Identifiers) {
    this.#clock = clock;
    this.#ids = ids;
  }

  addProject(name: string): FakeProject {
    const project = { id: this.#ids.hex(), name };
    this.projects.set(project.id, project);
    return project;
  }

  addUser(name: string, password: string, project: FakeProject, roles: readonly string[]): FakeUser {
    const user = { id: this.#ids.hex(), name, defaultProjectId: project.id, password };
    this.users.set(user.id, user);
    this.grant(user, project, roles);
    return user;
  }

  /** Replaces the roles that the user has on the project. */
  grant(user: FakeUser, project: FakeProject, roles: readonly string[]): void {
    this.#roles.set(`${user.id} ${project.id}`, roles);
  }

  rolesOf(userId: string, projectId: string): readonly string[] {
    return this.#roles.get(`${userId} ${projectId}`) ?? [];
  }

  addApplicationCredential(name: string, user: FakeUser, project: FakeProject): FakeApplicationCredential {
    const roles = this.rolesOf(user.id, project.id);
    const id = this.#ids.hex();
    const credential = { id, name, secret: this.#ids.hex(), userId: user.id, projectId: project.id, roles };
    this.applicationCredentials.set(id, credential);
    return credential;
  }

  addTrust(trustee: FakeUser, project: FakeProject): string {
    const id = this.#ids.hex();
    this.trusts.set(id, { trusteeUserId: trustee.id, projectId: project.id });
    return id;
  }

  issue(
    user: FakeUser,
    project: FakeProject,
    roles: readonly string[],
    methods: readonly string[],
    credential?: FakeApplicationCredential,
  ): FakeToken {
    const issuedAt = this.#clock.now();
    const id = `gAAAAA${this.#ids.hex()}${this.#ids.hex()}`;
    const token: FakeToken = {
      id,
      user,
      project,
      roles,
      methods,
      ...(credential ? { credential } : {}),
      issuedAt,
      expiresAt: issuedAt + this.tokenLifetimeMs,
    };
    this.#tokens.set(id, token);
    return token;
  }

  /** `undefined` for a token that is unknown, revoked or over. */
  token(id: string): FakeToken | undefined {
    const token = this.#tokens.get(id);
    return token && token.expiresAt > this.#clock.now() ? token : undefined;
  }

  revoke(id: string): void {
    this.#tokens.delete(id);
  }

  /** What a change of the signing keys does: no token given out so far is good any more. */
  revokeAll(): void {
    this.#tokens.clear();
  }

  callerOf(tokenId: string): Caller | undefined {
    const token = this.token(tokenId);
    return token && { userId: token.user.id, projectId: token.project.id, roles: token.roles };
  }
}
