"""A person who uses matrix-nio, a client that others wrote. Each answer that it cannot read is an error."""
import asyncio
import json
import sys

from nio import AsyncClient, ErrorResponse, LocalProtocolError, UnknownBadEvent, BadEvent, DiscoveryInfoResponse

url, user, password, bot, text = sys.argv[1:6]
seen = {"texts": [], "edits": [], "reactions": [], "typing": 0, "receipts": 0, "bad": [], "files": [], "direct": ""}


def good(answer):
    if isinstance(answer, ErrorResponse):
        raise SystemExit(f"refused: {type(answer).__name__} {answer}")
    return answer


async def until(client, condition):
    for _ in range(200):
        if condition():
            return
        read(good(await client.sync(timeout=300)))
    raise SystemExit(f"not seen: {json.dumps(seen)}")


def read(answer):
    for room in answer.rooms.join.values():
        for event in room.timeline.events:
            if isinstance(event, (BadEvent, UnknownBadEvent)):
                seen["bad"].append(str(event.source))
            source = event.source
            if source["sender"] != bot:
                continue
            content = source["content"]
            relation = content.get("m.relates_to", {})
            if relation.get("rel_type") == "m.replace":
                seen["edits"].append(content["m.new_content"]["body"])
            elif source["type"] == "m.reaction":
                seen["reactions"].append(relation["key"])
            elif "url" in content:
                seen["files"].append(content["url"])
            elif "body" in content:
                seen["texts"].append(content["body"])


async def main():
    client = AsyncClient(url, user)
    try:
        assert isinstance(good(await client.discovery_info()), DiscoveryInfoResponse)
        good(await client.login(password, device_name="nio"))
        assert good(await client.whoami()).user_id == client.user_id
        room = good(await client.room_create(is_direct=True, invite=[bot])).room_id
        seen["direct"] = room
        read(good(await client.sync(timeout=0, full_state=True)))
        message = {"msgtype": "m.text", "body": text}
        sent = good(await client.room_send(room, "m.room.message", message, tx_id="one")).event_id
        again = good(await client.room_send(room, "m.room.message", message, tx_id="one")).event_id
        assert sent == again, "a transaction is a message"
        await until(client, lambda: len(seen["texts"]) > 0)
        assert set(good(await client.joined_members(room)).members[0].__dict__) >= {"user_id", "display_name"}
        assert room in good(await client.joined_rooms()).rooms
        good(await client.room_typing(room, True, 10_000))
        good(await client.update_receipt_marker(room, sent))
        history = good(await client.room_messages(room, client.next_batch, limit=2))
        assert len(history.chunk) == 2 and history.end != history.start
        older = good(await client.room_messages(room, history.end, limit=100))
        assert older.chunk[-1].source["type"] == "m.room.create"
        assert good(await client.room_get_event(room, sent)).event.body == text
        assert good(await client.room_get_state_event(room, "m.room.create")).content["room_version"]

        async def bytes_of(*_):
            yield b"a list of bread"

        upload, _ = await client.upload(bytes_of, "text/plain", "bread.txt", filesize=15)
        uri = good(upload).content_uri
        file = {"msgtype": "m.file", "body": "bread.txt", "url": uri, "info": {"mimetype": "text/plain", "size": 15}}
        good(await client.room_send(room, "m.room.message", file))
        assert good(await client.download(uri)).body == b"a list of bread"
        await until(client, lambda: len(seen["texts"]) > 1)
        good(await client.room_redact(room, sent))
        gone = await client.join("!nowhere:hs.test")
        assert isinstance(gone, ErrorResponse) and gone.status_code == "M_NOT_FOUND", gone
        read(good(await client.sync(timeout=0)))
        print(json.dumps(seen))
    finally:
        await client.close()


asyncio.run(main())
