// SPDX-License-Identifier: Apache-2.0
// An HDFS of one data node on loopback, with its own WebHDFS:  MiniDfs FOLDER.  Prints "up PORT"
// and lives until its input ends.  Folders are listed ten entries at a time, so that few files
// make many pages.
import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

public class MiniDfs {
	public static void main(String[] args) throws Exception {
		Configuration c = new Configuration();
		c.setBoolean("dfs.permissions.enabled", true);
		c.setInt("dfs.ls.limit", 10);
		MiniDFSCluster m = new MiniDFSCluster.Builder(c, new File(args[0])).numDataNodes(1).build();
		m.waitActive();
		System.out.println("up " + m.getNameNode().getHttpAddress().getPort());
		while (System.in.read() >= 0) {
		}
		m.shutdown();
		System.exit(0);
	}
}
