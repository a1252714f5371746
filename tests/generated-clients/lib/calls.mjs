// The calls that every generated client makes: one for each operation of the document, as data.
import assert from 'node:assert/strict';
import { ids } from '../../conformance/data/operations.mjs';
import { World } from '../../conformance/lib/world.mjs';

/** A value for every query parameter but `cursor`, which only a page before can give. */
const queries = (world) => ({
  'questions.list': { limit: 2, conversation_id: world.question.conversation_id },
  'conversations.list': { limit: 2 },
  'docs.list': { limit: 2 },
  'files.list': { limit: 2 },
  'sync.pull': { since_revision: 0, limit: 2, include_content: false },
  'agents.list': { include_revoked: true },
  'tests.cases_list': {
    query: 'a b&c=d', capability: world.case.capability, owner: world.case.owner, role: world.case.role,
    cost_class: world.case.cost_class, suite_id: world.suite.suite_id, limit: 2,
  },
  'tests.suites_list': { query: 'ä+ö', runnable: true, limit: 2 },
  'tests.runs_list': {
    status: 'passed', selection_kind: 'cases', case_id: world.case.case_id, suite_id: world.suite.suite_id, limit: 2,
  },
});

const namesIn = (operation, place) =>
  (operation.parameters ?? []).filter((parameter) => parameter.in === place).map(({ name }) => name);

function pathParameters(template, path) {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
  const pattern = template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '([^/]+)');
  const values = path.match(new RegExp(`^${pattern}$`)).slice(1);
  return Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(values[at])]));
}

/** One call; what it uses up is made for it alone. */
async function callOf(world, { method, path: template, operation }, query) {
  const id = operation.operationId;
  const { path, body, token } = await world.succeeding(id);
  // A plan stands for the revision that it was made at, and earlier calls have moved on from 0.
  if (id === 'sync.commit') body.expected_revision = (await world.newPlan()).revision;
  const headers = Object.fromEntries(namesIn(operation, 'header').map((name) => [name, `of ${id}`]));
  return { id, method, template, path: pathParameters(template, path), query, headers, body, token };
}

/**
 * The calls, in an order in which all of them succeed. Each carries under `answer` what the server answered to such a
 * call over raw HTTP (undefined: bytes), for a compiler to hold against the generated types.
 */
export async function prepareCalls(api) {
  const entries = api.contract.operations;
  assert.deepEqual(entries.map(({ operation }) => operation.operationId).sort(), [...ids].sort(),
    'the operations of the document are those of conformance/data/operations.mjs');
  const world = await World.build(api);
  const query = queries(world);
  for (const { operation } of entries) {
    const named = Object.keys(query[operation.operationId] ?? {}).sort();
    const all = namesIn(operation, 'query').filter((name) => name !== 'cursor').sort();
    assert.deepEqual(named, all, `query parameters of ${operation.operationId}`);
  }
  const answers = new Map();
  for (const entry of entries) {
    const id = entry.operation.operationId;
    const { method, path, body, token } = await world.succeeding(id);
    answers.set(id, (await api.ask(method, path, body, { token })).json);
  }
  // Publishing moves the revision that a commit names: it is prepared last and called first.
  const commitLast = [...entries].sort((a, b) => isCommit(a) - isCommit(b));
  const calls = [];
  for (const entry of commitLast) calls.unshift(await callOf(world, entry, query[entry.operation.operationId]));
  for (const call of calls) call.answer = answers.get(call.id);
  return calls;
}

function isCommit({ operation }) {
  return operation.operationId === 'sync.commit' ? 1 : 0;
}
