heading = "Speedup over the best baseline"
remark = "internal 0.1 · NVIDIA H200 · ce-timing-0, uncertified, provisional"
entrants = 2
array names[2] = ["gold", "mock:de|mo"]
low = 0.5
high = 4
bottom = 12.8
$bars << EOD
1 1 1 2.5
1 4.2 0.8 1
2 8.4 1 1.6
1 10.6 1 1.1
0 -9 1 1
EOD
$values << EOD
2.5 1 "2.50×"
1 4.2 "0.80×"
1.6 8.4 "1.60×"
1.1 10.6 "1.10×"
1 -9 ""
EOD
$absent << EOD
2 "wrong(unwritten)"
5.2 "compile_failed"
7.4 "ok, not measured"
11.6 "no_answer(refused)"
-9 ""
EOD
$problems << EOD
0 "add"
3.2 "sum"
6.4 "scan"
9.6 "norm"
-9 ""
EOD
