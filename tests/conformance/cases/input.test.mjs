// Input that nobody means: every one of it gets an answer, and the right one.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ids, methodOf, operations, pathOf } from '../data/operations.mjs';
import { Api } from '../lib/api.mjs';
import { World } from '../lib/world.mjs';
import { sendBytes } from '../lib/wire.mjs';

let api;
let world;
let strict;
before(async () => {
  api = await Api.start();
  strict = await Api.start(['--strict']);
  world = await World.build(api);
});
after(async () => {
  await api.stop();
  await strict.stop();
});

const json = (text, path = '/v1/documents', method = 'POST') => api.ask(method, path, typeof text === 'string' ? text : Buffer.from(text));
const alive = async () => assert.equal((await api.ask('GET', '/v1/me')).status, 200);

test('malformed JSON is 422 json_invalid on every operation with a body', async (t) => {
  const invalid = ['{', '', 'nul', '{"a": 1,}', '{} {}', "{'a': 1}", '[1', '{"a": .5}', '{"a": 01}', '{"a": NaN}', '"\\ud800"', '{"a": "\t"}'];
  for (const id of ids.filter((each) => operations[each].body)) {
    await t.test(id, async () => {
      for (const text of invalid) {
        if (text === '' ) continue;
        const answer = await api.ask(methodOf(id), world.target(id), text, operations[id].open ? { token: null } : {});
        assert.equal(answer.status, 422, text);
        assert.equal(answer.json.detail.length, 1);
        assert.equal(answer.json.detail[0].type, 'json_invalid', text);
        assert.equal(answer.json.detail[0].loc[0], 'body');
      }
    });
  }
});

test('a body that is no object is 422, and an empty one is missing', async (t) => {
  for (const id of ids.filter((each) => operations[each].body)) {
    await t.test(id, async () => {
      const options = operations[id].open ? { token: null } : {};
      for (const text of ['[]', '"text"', '7', 'true', 'null']) {
        const answer = await api.ask(methodOf(id), world.target(id), text, options);
        assert.equal(answer.status, 422, text);
        assert.deepEqual(answer.json.detail[0].loc, ['body']);
      }
      const none = await api.ask(methodOf(id), world.target(id), undefined, options);
      assert.equal(none.status, 422);
      assert.equal(none.json.detail[0].type, 'missing');
      assert.deepEqual(none.json.detail[0].loc, ['body']);
    });
  }
});

test('200,000 levels of nesting are refused, wherever they stand', async () => {
  for (const text of ['['.repeat(200_000), '{"a":'.repeat(200_000), `{"title": ${'['.repeat(200_000)}${']'.repeat(200_000)}}`]) {
    const answer = await json(text);
    assert.equal(answer.status, 422);
    assert.equal(answer.json.detail[0].type, 'json_invalid');
  }
  await alive();
});

test('integers that no one can hold are refused as what they are', async () => {
  const claim = (value) => api.ask('POST', '/v1/agent-events:claim', `{"worker_id": "w", "lease_seconds": ${value}}`);
  for (const [value, type] of [
    ['9223372036854775808', 'less_than_equal'], ['18446744073709551616', 'less_than_equal'], ['1e400', undefined],
    ['-9223372036854775809', 'greater_than_equal'], ['-1e400', undefined], ['1' + '0'.repeat(400), undefined], ['300.0', undefined], ['1e2', undefined],
  ]) {
    const answer = await claim(value);
    if (value === '300.0' || value === '1e2') continue; // pydantic takes a float without a fraction; either will do
    assert.equal(answer.status, 422, value);
    if (type) assert.equal(answer.json.detail[0].type, type, value);
  }
  const unbounded = (value) => api.ask('PUT', `/v1/documents/${world.document.id}`, `{"expected_content_revision": ${value}}`);
  for (const value of ['9223372036854775808', '18446744073709551616', '1e400']) {
    assert.equal((await unbounded(value)).status, 422, value);
  }
  assert.equal((await unbounded('9223372036854775807')).status, 409);
  for (const value of ['9223372036854775808', '18446744073709551616', '99999999999999999999999', '1e400']) {
    const answer = await api.ask('GET', `/v1/documents?limit=${value}`);
    assert.equal(answer.status, 422, value);
    assert.ok(['less_than_equal', 'int_parsing', 'int_parsing_size'].includes(answer.json.detail[0].type), answer.text);
  }
  await alive();
});

test('bytes that are no UTF-8 get an answer in path, query, body and headers', async (t) => {
  for (const id of ids.filter((each) => pathOf(each).includes('{'))) {
    await t.test(`${id}: path`, async () => {
      const answer = await api.ask(methodOf(id), pathOf(id).replace(/\{\w+\}/g, '%FF%FE'), world.bodies()[id]);
      assert.equal(answer.status, 422, answer.text);
    });
  }
  for (const id of ids.filter((each) => operations[each].query)) {
    for (const name of Object.keys(operations[id].query)) {
      await t.test(`${id}: query ${name}`, async () => {
        const answer = await api.ask(methodOf(id), `${world.target(id)}?${name}=%FF%C0%80`);
        assert.equal(answer.status, 422, answer.text);
        assert.deepEqual(answer.json.detail[0].loc, ['query', name]);
      });
    }
  }
  await t.test('an unknown query parameter', async () => {
    assert.equal((await api.ask('GET', '/v1/documents?%FF=%FF')).status, 200);
  });
  await t.test('body', async () => {
    for (const bytes of [[0xff], [0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d], [0xef, 0xbb, 0xbf, 0xed, 0xa0, 0x80]]) {
      const answer = await json(bytes);
      assert.equal(answer.status, 422);
      assert.equal(answer.json.detail[0].type, 'json_invalid');
    }
    const lone = await json('{"title": "a\\ud800b", "content": "x"}');
    assert.equal(lone.status, 422);
  });
  await t.test('headers', async () => {
    const raw = (header) => sendBytes(api.server.port, Buffer.concat([
      Buffer.from(`GET /v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer ${api.token}\r\n`),
      Buffer.from(header, 'latin1'), Buffer.from('\r\n\r\n'),
    ]));
    for (const header of ['X-Request-Id: \xff\xfe', 'X-Other: \xff', 'If-None-Match: "\xff"', 'Accept: \xc3\x28']) {
      const text = await raw(header);
      assert.match(text, /^HTTP\/1\.1 (200|400) /, header);
    }
    const key = await sendBytes(api.server.port, Buffer.concat([
      Buffer.from(`POST /v1/workspaces HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer ${api.token}\r\nIdempotency-Key: `),
      Buffer.from([0xff, 0xfe]), Buffer.from('\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{"name": "w"}'),
    ]));
    assert.match(key, /^HTTP\/1\.1 (201|422|400) /);
  });
  await t.test('a broken escape in the path', async () => {
    for (const path of ['/v1/documents/%', '/v1/documents/%zz', '/v1/documents/%4']) {
      assert.equal((await api.ask('GET', path, undefined, { check: false })).status, 422, path);
      assert.equal((await api.ask('GET', path, undefined, { token: null, check: false })).status, 401, path);
    }
  });
  await t.test('NUL', async () => {
    assert.equal((await api.ask('GET', '/v1/documents/%00')).status, 422);
    assert.equal((await api.ask('GET', '/v1/admin/tests/cases/%00')).status, 404);
    const kept = await api.expect(201, 'POST', '/v1/documents', { title: 'a\u0000b', content: 'x\u0000y' });
    const got = await api.expect(200, 'GET', `/v1/documents/${kept.id}`);
    assert.equal(got.content, 'x\u0000y');
    assert.equal(got.title, 'a\u0000b');
  });
});

test('a text comes back as it went in, whatever it holds', async () => {
  for (const content of ['', '\r\n\r\n', '\ufeff# BOM', 'e\u0301 é', '🌊'.repeat(1000), '\u2028\u2029', '"\\/\b\f', '\u{10ffff}\uffff']) {
    const made = await api.expect(201, 'POST', '/v1/documents', { title: 't', content });
    assert.equal((await api.expect(200, 'GET', `/v1/documents/${made.id}`)).content, content);
  }
});

test('a member twice in an object, and members by the thousand, are no trouble', async () => {
  const answer = await json('{"title": "first", "content": "x", "title": "second"}');
  assert.ok([201, 422].includes(answer.status));
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`m${i}`, i]));
  assert.equal((await api.ask('POST', '/v1/documents', { title: 't', content: 'x', ...many })).status, 201);
});

test('unknown fields are ignored and told of; with --strict they are extra_forbidden, all at once', async () => {
  const body = { title: 't', content: 'x', colour: 'red', 'bröt': 1 };
  const lenient = await api.ask('POST', '/v1/documents?page=2', body);
  assert.equal(lenient.status, 201);
  for (const name of ['colour', 'page']) assert.ok(lenient.headers['x-mock-warning'].includes(name), lenient.headers['x-mock-warning']);
  const refused = await strict.ask('POST', '/v1/documents?page=2', body);
  assert.equal(refused.status, 422);
  assert.deepEqual(refused.json.detail.map(({ loc, type }) => [loc.join('.'), type]).sort(), [
    ['body.bröt', 'extra_forbidden'], ['body.colour', 'extra_forbidden'], ['query.page', 'extra_forbidden'],
  ]);
  assert.equal(refused.json.detail.find(({ loc }) => loc[1] === 'colour').input, 'red');
});

test('--strict: every operation refuses an unknown member and an unknown parameter', async (t) => {
  const there = await World.build(strict);
  for (const id of ids) {
    await t.test(id, async () => {
      const token = operations[id].open ? { token: null } : {};
      const query = await strict.ask(methodOf(id), `${there.target(id)}?nobody_knows=1`, there.bodies()[id], token);
      assert.equal(query.status, 422, query.text);
      assert.deepEqual(query.json.detail.map(({ loc, type }) => [loc, type]), [[['query', 'nobody_knows'], 'extra_forbidden']]);
      if (!operations[id].body) return;
      const body = await strict.ask(methodOf(id), there.target(id), { ...there.bodies()[id], nobody_knows: 1 }, token);
      assert.equal(body.status, 422, body.text);
      assert.deepEqual(body.json.detail.map(({ loc, type }) => [loc, type]), [[['body', 'nobody_knows'], 'extra_forbidden']]);
    });
  }
  for (const [id, member] of [['sync.plan', 'entries'], ['sync.push', 'items']]) {
    const item = { path: 'a.md', action: 'push_create', document_id: null, content: 'x', content_sha256: 'a'.repeat(64), size_bytes: 1, extra: 1 };
    if (id === 'sync.plan') ['action', 'content'].forEach((name) => delete item[name]);
    else delete item.size_bytes;
    const answer = await strict.ask('POST', there.target(id), { ...there.bodies()[id], [member]: [item] });
    assert.equal(answer.status, 422);
    assert.deepEqual(answer.json.detail.map(({ loc, type }) => [loc, type]), [[['body', member, 0, 'extra'], 'extra_forbidden']]);
  }
});

test('an operation without a body takes one and does not look at it', async () => {
  assert.equal((await api.ask('GET', '/v1/me', '{')).status, 200);
  assert.equal((await api.ask('DELETE', `/v1/documents/${(await world.newDocument()).id}`, 'not json', { headers: { 'content-type': 'text/plain' } })).status, 200);
});

test('the request id is kept where it is 1 to 128 visible ASCII characters, and made where it is not', async () => {
  const idFor = async (given) => (await api.ask('GET', '/v1/me', undefined, { headers: { 'x-request-id': given } })).headers['x-request-id'];
  for (const id of ['a', 'x'.repeat(128), '!~', '{"a":1}']) assert.equal(await idFor(id), id);
  const made = new Set();
  for (const id of ['', 'x'.repeat(129), 'with space', 'é', 'a\tb']) {
    const got = await idFor(id);
    assert.notEqual(got, id);
    made.add(got);
  }
  assert.equal(made.size, 5);
  const refused = await api.ask('GET', '/v1/nothing', undefined, { headers: { 'x-request-id': 'mine' }, check: false });
  assert.equal(refused.json.request_id, 'mine');
  assert.equal(refused.headers['x-request-id'], 'mine');
});

test('a document\'s tag spares sending it again', async () => {
  const document = await world.newDocument();
  const path = `/v1/documents/${document.id}`;
  const statusFor = async (tags, method = 'GET') => (await api.ask(method, path, undefined, { headers: { 'if-none-match': tags } })).status;
  const first = await api.ask('GET', path);
  const tag = first.headers.etag;
  assert.match(tag, /^"[^"]+"$/);
  assert.equal(await statusFor(tag), 304);
  assert.equal(await statusFor(tag, 'HEAD'), 304);
  assert.equal(await statusFor(`W/${tag}`), 304);
  assert.equal(await statusFor(`"x", ${tag} , "y"`), 304);
  assert.equal(await statusFor('*'), 304);
  assert.equal(await statusFor('"2"'), 200);
  assert.equal(await statusFor('1'), 200);
  const changed = await api.ask('PUT', path, { content: 'new', expected_content_revision: 1 });
  assert.notEqual(changed.headers.etag, tag);
  assert.equal(await statusFor(tag), 200);
});

test('cursors that nobody gave are refused', async (t) => {
  for (const id of ids.filter((each) => operations[each].query?.cursor)) {
    await t.test(id, async () => {
      for (const cursor of ['nonsense', '', '!!!', 'AAAA', 'ä']) {
        const answer = await api.ask('GET', `${world.target(id)}?cursor=${encodeURIComponent(cursor)}`);
        assert.equal(answer.status, 422, `${cursor}: ${answer.text.slice(0, 200)}`);
        assert.deepEqual(answer.json.detail[0].loc, ['query', 'cursor']);
      }
    });
  }
  for (const cursor of ['nonsense', '', 'AAAA']) {
    const answer = await api.ask('POST', '/v1/search', { query: 'tide', cursor });
    assert.equal(answer.status, 422);
    assert.deepEqual(answer.json.detail[0].loc, ['body', 'cursor']);
  }
  const other = (await api.expect(200, 'GET', '/v1/admin/tests/cases?limit=1')).next_cursor;
  assert.equal((await api.ask('GET', `/v1/documents?cursor=${encodeURIComponent(other)}`)).status, 422, 'that of another list');
});

test('pages hold every item once, also while new ones come', async () => {
  const wanted = [];
  for (let i = 0; i < 7; i++) wanted.push((await world.newDocument({ title: `page ${i}` })).id);
  const seen = [];
  let path = '/v1/documents?limit=2';
  for (let page = 0; page < 30; page++) {
    const list = await api.expect(200, 'GET', path);
    assert.ok(list.data.length <= 2);
    seen.push(...list.data.map(({ id }) => id));
    await world.newDocument({ title: 'late' });
    if (list.next_cursor === null) break;
    path = `/v1/documents?limit=2&cursor=${encodeURIComponent(list.next_cursor)}`;
  }
  assert.equal(new Set(seen).size, seen.length);
  for (const id of wanted) assert.ok(seen.includes(id));
});

test('a body over 16 MiB is 413', async () => {
  const answer = await sendBytes(api.server.port, Buffer.from(
    `POST /v1/documents HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${api.token}\r\nContent-Type: application/json\r\nContent-Length: ${16 * 1024 * 1024 + 1}\r\n\r\n{`,
  ), (text) => text.includes('payload_too_large'));
  assert.match(answer, /^HTTP\/1\.1 413 /);
});
