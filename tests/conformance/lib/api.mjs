// A caller whose every exchange is checked.
import assert from 'node:assert/strict';
import { Contract } from './contract.mjs';
import { startMock } from './server.mjs';
import { closeConnections, send } from './wire.mjs';

export class Api {
  static async start(flags = []) {
    const server = await startMock(flags);
    const document = (await send(server.port, { path: '/openapi.json' })).json;
    return new Api(server, new Contract(document, { strict: flags.includes('--strict') }));
  }

  constructor(server, contract) {
    this.server = server;
    this.contract = contract;
    this.token = server.token;
    this.seen = new Map(); // operation -> statuses met
  }

  /** Sends as the key of every scope, unless `token` names another or is null, and checks what comes back. */
  async ask(method, path, body, { token = this.token, headers, check = true, which } = {}) {
    const request = { method, path, body, headers, token: token ?? undefined };
    const answer = await send(this.server.port, request);
    if (check) {
      const problems = this.contract.problems(request, answer, { which });
      assert.deepEqual(problems, [], `${answer.text.slice(0, 1000)}`);
    }
    const id = answer.headers['x-mock-operation'];
    if (!this.seen.has(id)) this.seen.set(id, new Set());
    this.seen.get(id).add(answer.status);
    return answer;
  }

  /** The body of an answer that must have this status. */
  async expect(status, method, path, body, options) {
    const answer = await this.ask(method, path, body, options);
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text.slice(0, 1000)}`);
    return answer.json;
  }

  async control(method, path, body) {
    const answer = await send(this.server.port, { method, path: `/_mock${path}`, body });
    assert.ok(answer.status < 300, `${method} /_mock${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  }

  assume(switches) {
    return this.control('PATCH', '/assumptions', switches);
  }

  async key(wishes) {
    return (await this.control('POST', '/keys', wishes)).secret;
  }

  async stop() {
    closeConnections();
    const { code, signal } = await this.server.stop();
    assert.ok(code === 0 || signal === 'SIGTERM', `ws-mock ended with ${code ?? signal}`);
  }
}
