# Takes what comes to a port of the box's own loopback to the gateway's socket. Bounds what one box can hold open at once.
import asyncio
import os
import sys

PORT, SOCKET, MOST = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
guests = 0


async def pass_on(source, sink):
    while piece := await source.read(65536):
        sink.write(piece)
        await sink.drain()
    sink.write_eof()


async def admit(reader, writer):
    global guests
    ends = [writer]
    guests += 1
    try:
        if guests > MOST:
            raise OSError("too many connections")
        inner, outer = await asyncio.open_unix_connection(SOCKET)
        ends.append(outer)
        await asyncio.gather(pass_on(reader, outer), pass_on(inner, writer))
    except OSError:
        # One end is gone, so the other has nobody to talk to.
        for end in ends:
            end.transport.abort()
    finally:
        guests -= 1
        for end in ends:
            end.close()


async def main():
    try:
        os.stat(SOCKET)
    except FileNotFoundError:
        pass  # There is no gateway yet. A folder that can not be entered is an error: no agent is to be blamed for it.
    server = await asyncio.start_server(admit, "127.0.0.1", PORT)
    print("ready", flush=True)
    await server.serve_forever()


asyncio.run(main())
